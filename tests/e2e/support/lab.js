// The page's side of the tests: conversations with declared tools, and a tape of all that happens to them.
// Tests reach it as `window.lab`; what goes in and out is JSON.
import { troubles } from "/lab-troubles.js";
import * as pagehand from "/pkg/index.js";
import { attempt, ordinary } from "/lab-attempt.js";
import { gate } from "/lab-handlers.js";
import { litter, stored, takeDatabase } from "/lab-ledger.js";
import { Talk, argumentsSeen, argumentsText, recorded, signalOf, signals } from "/lab-talk.js";

/** @type {Map<string, Talk>} */
const talks = new Map();

/** Servers that the page has: conversations of one server share what it has. */
const servers = new Map();
/** How often the page was asked for a token. */
let tokensAsked = 0;
function serverOf(where) {
  const name = JSON.stringify(where);
  if (!servers.has(name)) servers.set(name, where.organization === undefined ? pagehand.openhands(where) : pagehand.uipath(tokened(where)));
  return servers.get(name);
}

/** Tokens of a list are given one after the other, the last one for ever; where there is none, the function throws. */
function tokened({ tokens, ...where }) {
  if (tokens === undefined) return where;
  const left = [...tokens];
  const token = async () => {
    tokensAsked += 1;
    const next = left.length > 1 ? left.shift() : left[0];
    if (next === null) throw new Error("nobody is signed in");
    return next;
  };
  return { ...where, token };
}

/** Methods of a conversation that a test may call as they are. */
const METHODS = ["send", "run", "idle", "history", "cancel", "close", "pause", "interrupt", "delete", "navigate", "ask", "condense",
  "stop", "feedback", "undeclare"];
/** Those whose last argument is an object and no options. */
const TAKERS = ["setConfirmationPolicy", "update", "switchLlm", "sendMetaEvent"];

globalThis.lab = {
  troublesSoFar: () => troubles,

  start: (name, server, options) =>
    attempt(() => {
      const talk = new Talk(name);
      talks.set(name, talk);
      return talk.open(serverOf(server).start(talk.options(options)));
    }),

  attach: (name, server, id, options) =>
    attempt(() => {
      const talk = new Talk(name);
      talks.set(name, talk);
      return talk.open(serverOf(server).attach(id, talk.options(options)));
    }),

  /** Asks a server something that is about no conversation. */
  inquire: (server, method, ...args) => attempt(() => serverOf(server)[method](...args)),
  tokensAsked: () => tokensAsked,

  /** An app that has a socket of its own, and gives what it hears, once or twice. */
  dispatch: (name, server, id, { tools = [], route, twice }) =>
    attempt(async () => {
      const talk = new Talk(name);
      talks.set(name, talk);
      const all = { ...server, conversationId: id, tools: tools.map((tool) => talk.tool(tool)) };
      const opened = await talk.open(pagehand.dispatcher(all));
      const socket = new WebSocket(`${server.url.replace("http", "ws")}/sockets/${route}/${id}`);
      socket.onmessage = ({ data }) => {
        talk.conversation.receive(data);
        if (twice) talk.conversation.receive(JSON.parse(data));
      };
      await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
      socket.send(JSON.stringify({ type: "auth", session_api_key: server.sessionKey }));
      return opened;
    }),

  ask: (name, method, ...args) =>
    attempt(() => {
      if (TAKERS.includes(method)) return talks.get(name).conversation[method](...args);
      if (!METHODS.includes(method)) throw new Error(`no method ${method}`);
      const { signal, ...options } = typeof args.at(-1) === "object" && !Array.isArray(args.at(-1)) ? args.pop() : {};
      if (signal) args.push({ ...options, signal: signalOf(signal) });
      else if (Object.keys(options).length > 0) args.push(options);
      return talks.get(name).conversation[method](...args);
    }),

  /** Answers what waits for approval, or what waited last. */
  answer: (name, accept, ...args) =>
    attempt(() => {
      const { conversation, request } = talks.get(name);
      const open = conversation.approval ?? request;
      return accept ? open.approve() : open.reject(...args);
    }),

  /** Answers the question about a call of this tool. */
  answerTool: (name, tool, accept, ...args) =>
    attempt(() => {
      const open = talks.get(name).conversation.approvals.find(({ calls }) => calls.some((call) => call.tool === tool));
      return accept ? open.approve(...args) : open.reject(...args);
    }),

  /** Uploads a file of text. */
  upload: (name, text, type, options) => attempt(() => talks.get(name).conversation.upload(new Blob([text], { type }), options)),

  /** Streams text beside the messages. */
  stream: (name, options, chunks) =>
    attempt(async () => {
      const input = await talks.get(name).conversation.openInput(options);
      for (const chunk of chunks) await input.write(chunk);
      await input.end();
      return input.id;
    }),

  fork: (name, copy, options) =>
    attempt(() => {
      const talk = new Talk(copy);
      talks.set(copy, talk);
      return talk.open(talks.get(name).conversation.fork(options));
    }),

  list: (server, options) => attempt(() => pagehand.openhands(server).list(options)),

  declare: (name, declaration) =>
    attempt(() => {
      const talk = talks.get(name);
      return talk.conversation.declare(talk.tool(declaration));
    }),

  state: (name) => {
    const { status, tools, openCalls, approval, approvals, label } = talks.get(name).conversation;
    const shown = (request) => request && recorded("approval", request);
    return { status, tools, openCalls, approval: shown(approval), approvals: approvals.map(shown), label };
  },

  /** At the next event of the topic its listener does this, in the middle of the delivery. */
  onNext(name, topic, what) {
    const { conversation } = talks.get(name);
    const stop = conversation.on(topic, () => {
      stop();
      // Not in `attempt`, which begins in a later task.
      const promise = what === "send" ? conversation.send("said by a listener", { run: false }) : conversation[what]();
      talks.get(name).inside = attempt(() => promise);
    });
  },
  inside: (name) => talks.get(name).inside,

  throwOn: (name, topic) => {
    talks.get(name).conversation.on(topic, () => {
      throw new Error("a listener's own");
    });
  },

  /** The types of all events from now to the end. */
  async readStream(name) {
    const types = [];
    for await (const { type } of talks.get(name).conversation) types.push(type);
    return types;
  },

  /** Says more than the core could ever hold. */
  overfill: (name) => attempt(() => talks.get(name).conversation.send("x".repeat(50_000_000))),

  argumentsText: () => argumentsText,
  argumentsSeen: () => argumentsSeen,
  stored,
  litter,
  takeDatabase,

  /** What every object has that should have nothing. */
  polluted: () => ({}).polluted ?? null,

  /** Takes all memory that a protocol's core could still have. */
  async exhaust(name) {
    const { memory } = await (await import(`/pkg/${name}-glue.js`)).default();
    memory.grow(65_536 - memory.buffer.byteLength / 65_536);
  },

  /** What went wrong so far, which then counts as expected. */
  forgetTroubles: () => troubles.splice(0),

  /** Does what the page's policy forbids. */
  async breakPolicy() {
    const reported = new Promise((resolve) => addEventListener("securitypolicyviolation", resolve, { once: true }));
    await ordinary();
    try {
      new Function("return 1")();
    } catch {
      // That is the point.
    }
    await reported;
  },

  /** As the browser does when other tabs or windows cover the page. */
  hide(hidden) {
    Object.defineProperty(document, "visibilityState", { value: hidden ? "hidden" : "visible", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  },

  until: (name, pattern, after, deadline) => attempt(() => talks.get(name).until(pattern, after, deadline)),
  tape: (name) => talks.get(name).tape,
  abort: (name) => (signalOf(name), signals.get(name).abort(new Error("the test gave up"))),
  openGate: (name) => gate(name).open(),
};
