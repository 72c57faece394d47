// The frames that real servers sent, out of the recordings: for each recorded conversation its own, in their order.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fixtures } from "./environment.mjs";

/** @param {string} folder @returns {any[][]} the lines of each file */
function files(folder) {
  const names = readdirSync(join(fixtures, folder)).filter((name) => name.endsWith(".jsonl"));
  return names.sort().map((name) => readFileSync(join(fixtures, folder, name), "utf8").trim().split("\n").map((line) => JSON.parse(line)));
}

/** Calls of the page's tools are left out, which is half of what was recorded for the sake of them: what they take is another measure. @param {string} raw */
const isOfNoCall = (raw) => !/ClientAction_|ClientToolObservation|"(start|executing)ToolCall"/.test(raw);

/** The frames that came whole, each once, since some recordings are of replays. @param {any[]} lines @param {boolean} session */
function openhands(lines, session) {
  const seen = new Set();
  return lines
    .filter(({ ch, dir, cut }) => ch === "ws" && dir === "recv" && cut === undefined)
    .map(({ raw }) => raw)
    .filter((raw) => {
      const frame = JSON.parse(raw);
      const { id } = frame.event ?? frame;
      const again = id !== undefined && seen.has(id);
      if ((frame.type !== undefined) !== session || frame.type === "sync" || again || !isOfNoCall(raw)) return false;
      seen.add(id);
      return true;
    });
}

/** @param {any[]} lines */
function uipath(lines) {
  return lines
    .filter(({ kind, leg, dir, raw }) => kind === "frame" && leg === "client" && dir === "server->peer" && raw.startsWith('42["ConversationEvent"'))
    .map(({ raw }) => raw)
    .filter((raw) => JSON.parse(raw.slice(2))[1].exchange !== undefined && isOfNoCall(raw));
}

/** Texts by what they are: events of the older socket, envelopes of the session socket, packets of Socket.IO. */
export function recordings() {
  const recorded = files("openhands");
  const all = {
    bare: recorded.map((lines) => openhands(lines, false)),
    session: recorded.map((lines) => openhands(lines, true)),
    uipath: files("uipath").map(uipath),
  };
  return Object.fromEntries(Object.entries(all).map(([which, recordings]) => [which, recordings.filter((frames) => frames.length > 0)]));
}
