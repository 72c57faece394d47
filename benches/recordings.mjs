// The frames that real servers sent, out of the recordings: for each recorded conversation its own, in their order.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fixtures } from "./environment.mjs";

/** @param {string} folder @returns {any[][]} the lines of each file */
function files(folder) {
  const names = readdirSync(join(fixtures, folder)).filter((name) => name.endsWith(".jsonl"));
  return names.sort().map((name) => readFileSync(join(fixtures, folder, name), "utf8").trim().split("\n").map((line) => JSON.parse(line)));
}

/** What lets a handler run is left out: what a call takes is another measure. @param {any} message */
const runsNothing = (message) => !/ClientToolObservation|"(executing|start)ToolCall"/.test(JSON.stringify(message));

/** The frames of each socket of a file that came whole. @param {any[]} lines @param {boolean} session */
function openhands(lines, session) {
  /** @type {Map<string, string[]>} */
  const sockets = new Map();
  for (const { ch, dir, cut, case: name, label, raw } of lines) {
    if (ch !== "ws" || dir !== "recv" || cut !== undefined) continue;
    const { type } = JSON.parse(raw);
    if ((type !== undefined) !== session || type === "sync" || !runsNothing(raw)) continue;
    const socket = `${name} ${label}`;
    sockets.set(socket, [...(sockets.get(socket) ?? []), raw]);
  }
  return [...sockets.values()];
}

/** @param {any[]} lines */
function uipath(lines) {
  return lines
    .filter(({ kind, leg, dir, raw }) => kind === "frame" && leg === "client" && dir === "server->peer" && raw.startsWith('42["ConversationEvent"'))
    .map(({ raw }) => raw)
    .filter((raw) => JSON.parse(raw.slice(2))[1].exchange !== undefined && runsNothing(raw));
}

/** Texts by what they are: events of the older socket, envelopes of the session socket, packets of Socket.IO. */
export function recordings() {
  const recorded = files("openhands");
  return {
    bare: recorded.flatMap((lines) => openhands(lines, false)),
    session: recorded.flatMap((lines) => openhands(lines, true)),
    uipath: files("uipath").map(uipath).filter((frames) => frames.length > 0),
  };
}
