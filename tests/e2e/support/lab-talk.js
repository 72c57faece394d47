// One conversation with declared tools, and a tape of all that happens to it.
import * as pagehand from "/pkg/index.js";
import { describe } from "/lab-attempt.js";
import { CONFIRMS, HANDLERS, never } from "/lab-handlers.js";

const TOPICS = ["call", "approval", "status", "message", "delta", "event", "connection", "tools", "notice", "error", "condition", "label"];

const page = new URL(location.href).searchParams.get("page");

/**
 * Tells the test of a run before the handler does anything, and waits until it is noted, so that no run is missed even if the
 * page ends right after. Nothing but a synchronous request does that. Firefox breaks it off when the page is about to be left, and
 * nobody knows whether it arrived; in WebKit it throws in a page that was left.
 * @returns {boolean} whether it is noted
 */
function report(conversation, callId, tool, args) {
  const request = new XMLHttpRequest();
  try {
    request.open("POST", "/runs", false);
    request.send(JSON.stringify({ page, conversation: conversation.id, callId, tool, args }));
    return request.status === 204;
  } catch {
    return false;
  }
}

/** The arguments of the run that began last, as they came and as the handler saw them. */
export let argumentsText;
export let argumentsSeen;

export const signals = new Map();
export function signalOf(name) {
  if (name === undefined) return undefined;
  if (!signals.has(name)) signals.set(name, new AbortController());
  return signals.get(name).signal;
}

/** One conversation and its tape. */
export class Talk {
  tape = [];
  #waiters = new Set();
  /** @type {any} */ conversation;

  constructor(name) {
    this.name = name;
  }

  /** Adds a line to the tape. */
  add(topic, value) {
    const line = { n: this.tape.length, topic, value };
    this.tape.push(line);
    for (const waiter of [...this.#waiters]) waiter(line);
  }

  /** A handler runs. On the tape first: while Firefox waits for the report, all else in the page goes on. */
  run({ conversation, callId }, tool, args) {
    this.add("run", { callId, tool, args: structuredClone(args) });
    return report(conversation, callId, tool, args);
  }

  /** A tool as pagehand takes it, from a declaration of the test. */
  tool({ handler, ...declaration }) {
    if (typeof declaration.confirm === "string") declaration.confirm = CONFIRMS[declaration.confirm];
    if (handler === undefined) return pagehand.tool(declaration);
    const { kind = handler, ...more } = typeof handler === "object" ? handler : {};
    const state = { ...more, talk: this };
    const execute = async (args, context) => {
      const { callId, signal } = context;
      argumentsText = context.argumentsText;
      argumentsSeen = JSON.stringify(args);
      if (!this.run(context, declaration.name, args)) await never();
      signal.addEventListener("abort", () => this.add("abort", { callId, ...describe(signal.reason) }));
      const gone = (value) => {
        this.add("ran", { callId, tool: declaration.name });
        return value;
      };
      return gone(await HANDLERS[kind].call(state, args, context));
    };
    // A handler that throws must do so by itself, not as a promise of this harness.
    const bare = (args, context) => {
      this.run(context, declaration.name, args);
      return HANDLERS[kind].call(state, args, context);
    };
    return pagehand.tool({ ...declaration, execute: /^throws/.test(kind) ? bare : execute });
  }

  /** A guard that says the same at each call of a tool: `{ before: { tool, says } }`, or `throws`. */
  guard(guard) {
    const made = (point) => async (call) => {
      const { tool, says, throws } = guard[point];
      if (tool !== undefined && tool !== call.tool) return undefined;
      this.add("guard", { point, ...structuredClone(call) });
      if (throws !== undefined) throw new Error(throws);
      return says;
    };
    return Object.fromEntries(Object.keys(guard).map((point) => [point, made(point)]));
  }

  /** Options as pagehand takes them. */
  options({ tools = [], guards, signal, ...options }) {
    const more = guards === undefined ? {} : { guards: guards.map((guard) => this.guard(guard)) };
    return { ...options, ...more, tools: tools.map((tool) => this.tool(tool)), signal: signalOf(signal) };
  }

  async open(opening) {
    const conversation = await opening;
    this.conversation = conversation;
    for (const topic of TOPICS) conversation.on(topic, (value) => this.add(topic, recorded(topic, value)));
    conversation.on("approval", (request) => {
      const { id, signal } = (this.request = request);
      signal.addEventListener("abort", () => this.add("moot", { id, ...describe(signal.reason) }));
    });
    return { id: conversation.id, created: conversation.created, status: conversation.status, tools: conversation.tools };
  }

  /** The first line that looks like this. */
  until(pattern, after, deadline) {
    const known = this.tape.find((line) => line.n > after && fits(pattern, line));
    if (known) return known;
    return new Promise((resolve, reject) => {
      const waiter = (line) => line.n > after && fits(pattern, line) && end(() => resolve(line));
      const timer = setTimeout(() => {
        const latest = this.tape.slice(-12).map((line) => JSON.stringify(line).slice(0, 240));
        end(() => reject(new Error(`nothing like ${JSON.stringify(pattern)} came; the latest:\n${latest.join("\n")}`)));
      }, deadline);
      const end = (settle) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        settle();
      };
      this.#waiters.add(waiter);
    });
  }
}

/** An event as JSON can carry it. */
export function recorded(topic, value) {
  if (topic === "approval") return { id: value.id, calls: value.calls };
  return topic === "call" && "thrown" in value ? { ...value, thrown: describe(value.thrown) } : structuredClone(value);
}

/** Whether a value has everything that the pattern has. */
function fits(pattern, value) {
  if (typeof pattern !== "object" || pattern === null) return Object.is(pattern, value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(pattern).every(([key, part]) => fits(part, value[key]));
}
