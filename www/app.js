// Puts the parts of the page together.
import { Approvals } from "./approvals.js";
import { Board } from "./board.js";
import { Calls } from "./calls.js";
import { Chat } from "./chat.js";
import { ConnectForm } from "./connect.js";
import { find } from "./dom.js";
import { Jumps } from "./jumps.js";
import { protocolOfAddress, putInAddress } from "./protocols.js";
import { showAgent, showConnection } from "./status.js";
import { fillSwitch } from "./switch.js";
import { pageTools } from "./tools.js";
import { troubleOf } from "./trouble.js";
import { Viewer } from "./viewer.js";

/** @import { Conversation, StatusEvent } from "./pkg/types.d.ts" */
/** @import { Settings } from "./protocols.js" */

const board = new Board(find("#columns"));
const viewer = new Viewer(find("#viewer"));
const calls = new Calls(find("#calls"));
const chat = new Chat(find("#assistant"), (text) => turn(text));
const form = new ConnectForm(find("#connect"), { connect: open, back: () => open(demo()) });
const jumps = new Jumps(find(".jumps"));
const tools = pageTools({ board, viewer });
const approvals = new Approvals({
  tools,
  show: (card) => chat.card(card),
  leave: () => chat.focus(),
  count: (open) => {
    questions = open;
    showStatus();
    if (isWorking) chat.mode(open > 0 ? "asking" : "working");
  },
});

let protocol = protocolOfAddress();
/** @type {Settings} The scripted agent, on the server that this page came from, until another one is asked for. */
let settings = demo();
/** @type {StatusEvent} What the server said last. */
let said = { status: "idle" };
/** How many questions the visitor has not answered. */
let questions = 0;
/** Whether the agent has the word. */
let isWorking = false;
/** @type {AbortController} What belongs to a conversation that was left is no longer wanted. */
let current = new AbortController();
/** @type {Conversation | undefined} */
let conversation;

find("#again").addEventListener("click", () => open(settings));
fillSwitch(find("#switch"), protocol, (chosen) => {
  protocol = chosen;
  putInAddress(chosen);
  form.offer(chosen);
  open(demo());
});
form.offer(protocol);
open(settings);

/** The scripted agent speaks every protocol. @returns {Settings} */
function demo() {
  return { url: location.origin, ...protocol.demo };
}

/** @param {Settings} settings */
function isDemo({ url }) {
  return url === location.origin;
}

/** Leaves the conversation there is, and starts another. @param {Settings} wanted */
async function open(wanted) {
  settings = wanted;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  conversation?.close();
  conversation = undefined;
  isWorking = false;
  board.reset();
  viewer.close();
  calls.clear();
  chat.clear();
  chat.mode("starting");
  showConnection({ state: "connecting", reason: "" });
  status({ status: "idle" });
  try {
    const started = await protocol.start(wanted, tools, signal);
    if (signal.aborted) return void started.close();
    conversation = started;
    listen(started, signal);
    form.connected(!isDemo(wanted));
    status({ status: started.status });
    chat.mode("ready");
  } catch (error) {
    if (signal.aborted) return;
    end(troubleOf(error, { url: wanted.url, isDemo: isDemo(wanted), protocol }), "Try again");
  }
}

/** @param {Conversation} conversation @param {AbortSignal} signal */
function listen(conversation, signal) {
  /** @template T @param {(event: T) => void} show @returns {(event: T) => void} */
  const wanted = (show) => (event) => {
    if (!signal.aborted) show(event);
  };
  conversation.on("call", wanted((call) => {
    calls.show(call);
    jumps.news("calls");
    if (call.state === "running") jumps.news("board");
  }));
  conversation.on("approval", wanted((request) => {
    // A call that the server holds back waits; one that has come through is held by the page itself.
    const held = conversation.openCalls.find(({ callId }) => callId === request.calls[0]?.callId);
    approvals.ask(request, held?.state === "confirming" ? "page" : "agent");
    jumps.news("assistant");
  }));
  conversation.on("message", wanted((message) => {
    chat.message(message);
    jumps.news("assistant");
  }));
  conversation.on("delta", wanted((delta) => chat.delta(delta)));
  conversation.on("status", wanted(status));
  conversation.on("connection", wanted((event) => {
    showConnection(event);
    if (event.state === "closed") end({ title: "The conversation has ended", text: `The reason: ${event.reason}.` }, "Start a new one");
  }));
}

/** @param {string} text */
async function turn(text) {
  const { signal } = current;
  if (conversation === undefined) return;
  chat.user(text);
  chat.mode("working");
  isWorking = true;
  try {
    const end = await protocol.ask(conversation, text, {
      tools,
      onReport: (names, report) => chat.report(`Results sent: ${names.join(", ")}`, report),
    });
    if (signal.aborted) return;
    chat.endDrafts();
    if (end.error !== undefined) {
      chat.trouble({ title: "The agent's run failed", text: `${end.error.detail} (${end.error.code})` });
    }
    rest();
  } catch (error) {
    // A conversation that has closed says so by itself.
    if (signal.aborted || conversation === undefined) return;
    chat.trouble(troubleOf(error, { url: settings.url, isDemo: isDemo(settings), protocol }));
    rest();
  }
}

/** @param {StatusEvent} event */
function status(event) {
  said = event;
  showStatus();
}

/** A question of the page's own is none to the server. */
function showStatus() {
  showAgent(questions > 0 ? { status: "waiting_for_confirmation" } : said);
}

/** The visitor has the word. */
function rest() {
  isWorking = false;
  chat.mode("ready");
}

/** There is no conversation to speak in. @param {{ title: string, text: string }} trouble @param {string} label */
function end(trouble, label) {
  conversation = undefined;
  isWorking = false;
  chat.endDrafts();
  chat.mode("broken");
  showConnection({ state: "closed", reason: "" });
  chat.trouble(trouble, { label, act: () => open(settings) });
}
