// Talking to an agent.
import {
  PagehandError, init, openhands, tool,
  type ApprovalRequest, type CallEvent, type Conversation, type ErrorCode, type HistoryPage, type Issue, type Json, type OpenHandsConversation,
  type Outcome, type Server, type Status, type TopicEvent, type TurnEnd, type Validator,
} from "pagehand";

const server = openhands({ url: "http://localhost:8000", sessionKey: "key" });
server satisfies Server;
openhands({ url: "http://localhost:8000", sessionKey: async () => "key" }) satisfies Server;
// @ts-expect-error: a server has an address
openhands({});
// @ts-expect-error: it is called sessionKey
openhands({ url: "", apiKey: "x" });

export async function talk(signal: AbortSignal): Promise<void> {
  const show = tool({ name: "show", description: "Shows" });
  const conversation = await server.start({
    tools: [show, { name: "hide", description: "Hides", execute: () => null }],
    workspace: "/work",
    agent: { kind: "Agent", llm: { model: "m" } },
    confirmation_policy: { kind: "NeverConfirm" },
    signal,
  });
  conversation satisfies OpenHandsConversation;
  const common: Conversation = conversation;
  // @ts-expect-error: not every server can
  common.fork;
  conversation.id satisfies string;
  conversation.created satisfies boolean;
  conversation.status satisfies Status;
  conversation.tools.ready satisfies string[];
  conversation.openCalls satisfies CallEvent[];
  // @ts-expect-error: read only
  conversation.id = "x";

  await conversation.send("hello", { run: false, signal });
  await conversation.send([{ type: "text", text: "see" }, { type: "image", image_urls: ["data:,"] }]);
  // @ts-expect-error: no such part
  await conversation.send([{ type: "video" }]);
  // @ts-expect-error: a send is not a thing
  await conversation.send({ text: "x" });
  await conversation.run({ signal });
  (await conversation.idle({ signal })) satisfies TurnEnd;
  const page = await conversation.history({ limit: 10, order: "newest" });
  page satisfies HistoryPage;
  if (page.next !== null) await conversation.history({ page: page.next });
  // @ts-expect-error: what has no next has no more
  await conversation.history({ page: null });
  await conversation.declare(show);
  await conversation.undeclare("show");
  await server.attach("id", { tools: [{ name: "n", description: "d", versioned: true }], limits: { resultBytes: 5, unreadEvents: 7 } });
  // @ts-expect-error: no such limit
  await server.attach("id", { limits: { bytes: 5 } });
  await conversation.cancel("id", "why");

  await conversation.send("go on", { approvePending: true });
  await conversation.pause({ signal });
  await conversation.interrupt();
  await conversation.setConfirmationPolicy({ kind: "ConfirmRisky", threshold: "LOW" });
  // @ts-expect-error: a policy has a kind
  await conversation.setConfirmationPolicy({ threshold: "LOW" });
  (await conversation.fork({ eventId: "e", title: "copy", tags: { a: "b" } })) satisfies OpenHandsConversation;
  await conversation.update({ title: "t" });
  await conversation.navigate(null);
  await conversation.switchLlm({ model: "m" });
  (await conversation.ask("why?")) satisfies string;
  await conversation.condense();
  await conversation.delete();
  const { conversations, next } = await server.list({ limit: 5, status: "idle", signal });
  conversations[0]?.id satisfies string | undefined;
  next satisfies string | null;
  conversation.approval satisfies ApprovalRequest | null;
  conversation.on("approval", async ({ calls, signal: moot, approve, reject }) => {
    const risky = calls.some(({ tool: name, arguments: args, summary, risk, client }) => [name, args, summary, risk, client].length > 5);
    await (risky ? reject("no", { say: "ask me", signal: moot }) : approve());
  });

  const off = conversation.on("call", (call) => call satisfies CallEvent);
  off();
  conversation.on("status", ({ status, detail }) => [status satisfies Status, detail satisfies string | undefined]);
  conversation.on("connection", ({ state, closeCode }) => [state, closeCode satisfies number | undefined]);
  conversation.on("error", ({ code }) => code satisfies ErrorCode);
  // @ts-expect-error: no such topic
  conversation.on("calls", () => {});

  for await (const event of conversation) {
    event satisfies TopicEvent;
    if (event.type === "delta") event.value.content satisfies string;
  }
  for await (const { type, value } of conversation) {
    if (type === "call" && value.state === "settled") value.outcome satisfies Outcome;
    else if (type === "event" && value.kind === "MessageEvent") value.llm_message.role satisfies string;
    else if (type === "error" && value.code === "closed") value.details.reason satisfies string;
    // @ts-expect-error: calls have states, other things have not
    value.state;
  }
  await conversation.close();
  await using attached = await server.attach("id", { tools: [show], signal });
  attached satisfies AsyncDisposable;
  // @ts-expect-error: an attached conversation has its workspace
  await server.attach("id", { workspace: "/" });
  await server.attach("id", { tools: [show], resumeWithin: 0, results: "message" });
  // @ts-expect-error: no such way
  await server.attach("id", { results: "channel" });
  // @ts-expect-error: a conversation has a workspace
  await server.start({ agent: {} });
}

export function ended(outcome: Outcome): Json {
  switch (outcome.kind) {
    case "ok":
      return outcome.result;
    case "missing_handler":
      return outcome.registered;
    case "invalid_arguments":
    case "invalid_output":
      return outcome.issues.map(({ path, message }) => `${path}: ${message}`);
    case "failed":
      return [outcome.code, outcome.name];
    case "timed_out":
      return outcome.timeout;
    case "cancelled":
    case "rejected":
    case "interrupted":
      return outcome.message;
    default:
      return outcome satisfies never;
  }
}

export async function validation(id: string): Promise<void> {
  const validator: Validator = async (schema, value, { tool, part }) => {
    tool satisfies string | undefined;
    part satisfies "input" | "output";
    return schema.required.every((name: string) => name in value) ? undefined : [{ message: "no", path: ["a", { key: 0 }] }];
  };
  await server.attach(id, { validator, maskValues: true });
  await server.attach(id, { validator: () => {} });
  // @ts-expect-error: an issue says what is wrong
  await server.attach(id, { validator: () => [{ path: "/a" }] });
}

export async function loading(bytes: Uint8Array<ArrayBuffer>, module: WebAssembly.Module): Promise<void> {
  await init({ openhands: true });
  await init({ openhands: "/pagehand/openhands.wasm" });
  await init({ uipath: new URL("https://cdn.example/uipath.wasm") });
  await init({ openhands: fetch("/openhands.wasm") });
  await init({ openhands: module, schema: bytes });
  // @ts-expect-error: what is to be loaded must be said
  await init();
  // @ts-expect-error: not a place
  await init({ openhands: null });
}

export function failure(error: unknown): ErrorCode | undefined {
  if (!PagehandError.isInstance(error)) return undefined;
  error satisfies Error;
  error.name satisfies "PagehandError";
  error.retryable satisfies boolean;
  if (error.code === "invalid_tool") error.details.rule satisfies string;
  else if (error.code === "invalid_edit") error.details.issues satisfies Issue[];
  else if (error.code === "unreachable") error.details satisfies null;
  // @ts-expect-error: not every error has that
  error.details.rule;
  // @ts-expect-error: read only
  error.code = "closed";
  // @ts-expect-error: no such code
  if (error.code === "timeout") return undefined;
  return error.code;
}

export function caught(error: unknown): string | undefined {
  if (error instanceof PagehandError && error.code === "not_found") return error.details.detail;
  return error instanceof Error ? error.message : undefined;
}

// @ts-expect-error: pagehand makes them
new PagehandError("closed");
// @ts-expect-error: the glue is not public
export type { InitOutput } from "pagehand";
// @ts-expect-error: neither is its class
export type { Session } from "pagehand";
