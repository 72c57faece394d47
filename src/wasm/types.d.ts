// The public types of pagehand, written by hand: the one source for TypeScript.
// `tests/types/` holds them against JSON that the Rust tests write.
import type { ErrorDetails } from "./error-details.js";
import type { Arguments, Given, JsonSchema, Result, ToolSchema } from "./infer.js";

export type { ErrorDetails } from "./error-details.js";
export type { Arguments, FromJsonSchema, Given, JsonSchema, Result, SchemaPair, StandardSchema, ToolSchema } from "./infer.js";

/** A JSON value, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// ---------------------------------------------------------------- tools

/** MCP-style hints. What is not given is not assumed: a tool is never taken for read-only. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** What a handler gets beside its arguments. */
export interface CallContext {
  /** Aborts when the call is cancelled, times out, or the conversation closes. */
  readonly signal: AbortSignal;
  /** The protocol's id of the call (OpenHands: the id of the `ActionEvent`). */
  readonly callId: string;
  /** The arguments as JSON text, with all digits of numbers that JavaScript rounds (`inexact_number`). */
  readonly argumentsText: string;
  /** The conversation the call came from. A handler may call anything on it, also what only its kind of server can do. */
  readonly conversation: Conversation;
}

export type Handler<Args = any, Returned = unknown> = (args: Args, context: CallContext) => Returned | Promise<Returned>;

/**
 * What `tool()` takes. `parameters` may stand for `inputSchema`, so a `ClientToolSpec` works as it is.
 *
 * A schema is a JSON Schema, or that of a library that implements Standard Schema. Such a library checks the values itself, and
 * what it makes of the arguments (defaults, transformations) is what the handler gets. The agent is told its JSON Schema, which
 * the library gives (zod, ArkType, Valibot's `toStandardJsonSchema`), or which stands beside it: `{ schema, jsonSchema }`.
 */
export interface ToolDefinition<Input extends ToolSchema = any, Output extends ToolSchema = any, Returned extends Result<Output> = any> {
  /** Letters, digits, `_` and `-`, not starting with a digit or `-`; at most 64 characters. */
  name: string;
  /** What the model reads to decide on a call. */
  description: string;
  inputSchema?: Input;
  parameters?: Input;
  /** When given, a result that does not fit settles the call as `invalid_output`. It leaves as the handler returned it. */
  outputSchema?: Output;
  annotations?: ToolAnnotations | null;
  /** Milliseconds a handler may take, 1 to 2147483647. Default 60000. */
  timeout?: number;
  /**
   * When the handler runs. `"acknowledgement"` (the default) waits until the server has let the call through;
   * `"announcement"` starts as soon as the call is seen, and is refused where a confirmation could come in between.
   */
  runOn?: "acknowledgement" | "announcement";
  /**
   * Whether a person is asked before the handler starts, where the server has not asked: always, or when the function says so. The question is an `approval` like the server's, on the page that has the call.
   */
  confirm?: boolean | ((args: Given<Input>) => boolean | Promise<boolean>);
  /**
   * Whether an OpenHands server knows the tool by its name and the version of its input schema, such as `read_board_3f9a1c`: that
   * server binds a name to a schema for as long as it lives. Everywhere in the app it keeps its plain name. Calls of another
   * version, from a conversation that was made with one, end as `missing_handler`. The name may have 57 characters then. UiPath's
   * agents know their tools by the plain name, and nothing is bound. Default `false`.
   */
  versioned?: boolean;
  /** A tool without a handler is declared all the same: its calls settle as `missing_handler`. */
  execute?(args: Arguments<Input>, context: CallContext): Returned | Promise<Returned>;
}

/** A checked, frozen tool definition. Its schemas are JSON Schemas. */
export interface Tool<Args = any, Returned = unknown> extends Readonly<Omit<ToolDefinition, "execute">> {
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly execute?: Handler<Args, Returned>;
}

/** A call as a guard sees it. */
export interface GuardedCall {
  readonly tool: string;
  readonly callId: string;
  /** What the handler is to get, or got. */
  readonly arguments: { readonly [key: string]: unknown };
}

/**
 * What an app thinks of calls, whatever the tool. Guards are asked in their order, once for each call, each about what the one
 * before left. Nothing or `true` lets it pass, `false` and `{ block }` end it, and what throws ends it, too.
 */
export interface Guard {
  /** Before the handler starts. A blocked call ends as `rejected`; other arguments are checked against the schema. */
  before?(
    call: GuardedCall,
    context: { readonly signal: AbortSignal },
  ): GuardVerdict | { arguments: object } | Promise<GuardVerdict | { arguments: object }>;
  /** After the handler returned. A result that is blocked ends the call as `failed` with `result_withheld`. */
  after?(
    call: GuardedCall & { readonly result: unknown },
    context: { readonly signal: AbortSignal },
  ): GuardVerdict | { result: unknown } | Promise<GuardVerdict | { result: unknown }>;
}
export type GuardVerdict = void | boolean | { block: string };

/** Checks the form of a definition, and freezes it. The handler's types follow from the schemas. */
export function tool<
  const Input extends ToolSchema = any,
  const Output extends ToolSchema = any,
  const Returned extends Result<Output> = Result<Output>,
>(definition: ToolDefinition<Input, Output, Returned>): Tool<Arguments<Input>, Returned>;

// ---------------------------------------------------------------- calls

/** The life of a call. `elsewhere`: another page of this browser has it. `settled` and `withdrawn` are final. */
export type CallState =
  | "announced" | "waiting" | "authorised" | "validating" | "claiming" | "elsewhere" | "guarding" | "confirming" | "running" | "settled" | "withdrawn";

/** One violation of a schema. */
export interface Issue {
  /** JSON Pointer into the arguments (or the result); `""` is the whole. */
  path: string;
  keyword: string;
  /** The keyword's value in the schema: the allowed list, the bound, the pattern. */
  expected: Json;
  message: string;
}

/** How a call ended. */
export type Outcome =
  | { kind: "ok"; result: Json }
  | { kind: "missing_handler"; tool: string; registered: string[] }
  | { kind: "invalid_arguments"; issues: Issue[] }
  | { kind: "invalid_output"; issues: Issue[] }
  | { kind: "failed"; code: FailureCode; name: string; message: string }
  | { kind: "timed_out"; timeout: number }
  | { kind: "cancelled"; message: string }
  | { kind: "rejected"; message: string }
  /** The page that ran it is gone; it may or may not have done its work, and is never run again. */
  | { kind: "interrupted"; message: string };

/**
 * Why a call failed: `handler_threw`, `result_not_serializable`, `invalid_schema` (the tool's own schema),
 * `schema_engine_unavailable`, `validator_threw` (a validator of the app's), `check_timed_out` (it, or the engine, took longer than the
 * tool's `timeout`), `call_unavailable` (an authorised call that the server could not show us), `result_withheld` (by a guard), and what
 * is beyond a limit: `arguments_too_large`, `result_too_large`, `too_many_calls`.
 */
export type FailureCode =
  | "handler_threw" | "result_not_serializable" | "invalid_schema" | "schema_engine_unavailable" | "validator_threw"
  | "check_timed_out" | "call_unavailable" | "result_withheld" | "arguments_too_large" | "result_too_large" | "too_many_calls";

/** One difference between two values: without `from` it is new, without `to` it is gone. */
export interface Edit {
  /** JSON Pointer. */
  path: string;
  from?: Json;
  to?: Json;
}

/** One step in the life of a call. The last one has the outcome, unless the call is withdrawn. */
export type CallEvent = CallStep | SettledCall;

export interface CallStep {
  callId: string;
  tool: string;
  state: Exclude<CallState, "settled">;
  /** Why the call is in this state, in a few words. */
  reason: string;
  /** Present once the arguments are known. */
  arguments?: Json;
  /** How they differ from what the agent wanted, in the step that changed them. */
  edits?: Edit[];
  outcome?: undefined;
  thrown?: undefined;
}

export interface SettledCall extends Omit<CallStep, "state" | "outcome" | "thrown"> {
  state: "settled";
  outcome: Outcome;
  /** What the handler threw, the value itself. Present when the outcome is `failed` with `handler_threw`. */
  thrown?: unknown;
}

// ---------------------------------------------------------------- conversation

/** What the conversation is doing, the same for every server. `unknown` keeps a word of a newer server in `detail`. */
export type Status =
  | "idle" | "running" | "paused" | "waiting_for_confirmation" | "finished" | "error" | "stuck" | "deleting" | "unknown";

export interface StatusEvent { status: Status; detail?: string }

export interface MessageEvent_ {
  /** The message's id, which streamed text of it named before. */
  id: string | null;
  role: string;
  source: string;
  text: string;
  /** What parts of the text rest on, where the server says it. */
  citations?: Citation[];
}

/** What a part of a message rests on. */
export interface Citation {
  citationId: string;
  /** Where the part begins, and how long it is, in UTF-16 units of `text`. */
  offset: number;
  length: number;
  sources: { title?: string; number?: number; url?: string; mimeType?: string; downloadUrl?: string; pageNumber?: string }[];
}

/** Streamed text of a reply that is being written. `item` is the id of the event that will close it, when known. */
export interface DeltaEvent { item?: string; kind: "text" | "reasoning"; content: string }

export interface ConnectionEvent {
  /** `waiting`: the server is busy and has not answered for a while; nothing is wrong, and nothing is sent again. */
  state: "connecting" | "connected" | "waiting" | "ready" | "lost" | "closed";
  /** Why, in a few words. */
  reason: string;
  /** `lost`: the WebSocket's close code, and the milliseconds until the next attempt. */
  closeCode?: number;
  retryIn?: number;
  /** `closed`: the code of the error that ended the conversation; `"closed"` when the app did. */
  code?: ErrorCode;
}

/**
 * How the app's tools compare with those the server has for this conversation. An OpenHands server tells what a conversation was
 * made with. UiPath's service keeps nothing of what was declared with earlier turns, and does not say which tools an agent has: all
 * tools with a handler are `ready` there, those without are `missingHandlers`, and the other lists are empty.
 */
export interface ToolReport {
  /** Known to the server, with a handler here and the same schema. */
  ready: string[];
  /** Removed: known to the server, no handler here. Calls settle as `missing_handler`. Other versions of a tool are among them. */
  missingHandlers: string[];
  /** Added: declared here, unknown to the server. The agent cannot call them in this conversation. */
  unknownToServer: string[];
  /** Changed: known to both with different schemas; arguments are checked against ours. */
  differentSchema: string[];
}

/** What happened without a place of its own: every drop, repair, dedupe and refusal. */
export interface NoticeEvent { code: NoticeCode; message: string; eventId?: string }
export type NoticeCode =
  | "duplicate_event" | "unknown_event" | "unknown_frame" | "malformed_frame" | "frame_too_large" | "stream_aborted" | "log_rewound"
  | "call_refused" | "server_error" | "late_signal" | "storage_unavailable" | "missed"
  | "unknown_call" | "unflagged_call" | "result_too_large" | "inexact_number";

export type ErrorEvent_ = { [Code in ErrorCode]: { code: Code; message: string; details: ErrorDetails[Code] } }[ErrorCode];

/** An event of the server's log as it came, parsed. OpenHands: `OpenHandsEvent`. */
export type ServerEvent = OpenHandsEvent;

/** A call that waits for approval: of a tool of the page, or of the server's own. */
export interface PendingCall {
  callId: string;
  tool: string;
  arguments: Json;
  /** The agent's own words about it. */
  summary?: string;
  /** The server's estimate, in its words: `LOW`, `MEDIUM`, `HIGH`, `UNKNOWN`. */
  risk?: string;
  /** Whether the page would run it. */
  client: boolean;
  /** Whether `approve({ arguments })` may change the arguments. */
  editable: boolean;
  /** The server's JSON Schema of the arguments. */
  schema?: Json;
}

/**
 * Calls that wait for one answer, all of them together. One answer leaves, whichever tab gives it; every other rejects with
 * `approval_answered`.
 */
export interface ApprovalRequest {
  readonly id: string;
  readonly calls: readonly PendingCall[];
  /** Aborts when there is nothing left to answer: answered here or elsewhere, interrupted, closed. */
  readonly signal: AbortSignal;
  /**
   * Lets all of them run, or an `editable` one with other arguments. Those are checked first: what does not fit rejects with
   * `invalid_edit`, what could not be checked, or not within the tool's `timeout`, with `invalid_argument`. The question stays.
   */
  approve(options?: Waiting & { arguments?: object }): Promise<void>;
  /** Lets none of them run. OpenHands' agent rests then until it is told to go on, which `say` does. */
  reject(reason?: string, options?: Waiting & { say?: string | ContentPart[] }): Promise<void>;
}

/** What the core tells about an approval. @internal */
export type ApprovalTold =
  | { state: "open"; id: string; calls: PendingCall[] }
  | { state: "closed"; id: string; reason: string };

export interface ConversationEvents {
  call: CallEvent;
  approval: ApprovalRequest;
  status: StatusEvent;
  message: MessageEvent_;
  delta: DeltaEvent;
  event: ServerEvent;
  connection: ConnectionEvent;
  tools: ToolReport;
  notice: NoticeEvent;
  error: ErrorEvent_;
  condition: ConditionEvent;
  label: LabelEvent;
}

/** Something is wrong on the server, or, `over`, no longer is. */
export interface ConditionEvent {
  /** The server's name for it; the end has the name of the beginning. */
  code: string;
  level: "conversation" | "exchange" | "message" | "content_part" | "tool_call" | "input_stream" | "citation";
  /** The id of what it is about. */
  id: string;
  over: boolean;
  message?: string;
  details?: Json;
}

/** The conversation's title. */
export interface LabelEvent {
  text: string;
  /** Whether the server made it up. */
  generated: boolean;
}

export type TopicEvent = { [T in keyof ConversationEvents]: { type: T; value: ConversationEvents[T] } }[keyof ConversationEvents];

export interface Waiting { signal?: AbortSignal }

export type ContentPart =
  | { type: "text"; text: string }
  | { type: "image"; image_urls: string[] }
  | Attachment;

/** A file that was uploaded, for UiPath's agents. */
export interface Attachment {
  type: "attachment";
  uri: string;
  mimeType: string;
  name?: string;
  byteCount?: number;
}

export interface TurnEnd {
  status: Status;
  /** Present when the run ended in an error. */
  error?: { code: string; detail: string };
}

export interface HistoryOptions extends Waiting {
  /** Events on a page, 1 to 100. Default 100. */
  limit?: number;
  /** `oldest` first (the default) or `newest` first. */
  order?: "oldest" | "newest";
  /** `next` of the page before. */
  page?: string;
}
export interface HistoryPage { events: ServerEvent[]; next: string | null }

/** A conversation with an agent: what all servers have in common. */
export interface Conversation extends AsyncIterable<TopicEvent> {
  readonly id: string;
  /** `true` when this call of `start` made it; `false` when it was there before. */
  readonly created: boolean;
  readonly status: Status;
  readonly tools: ToolReport;
  /** Calls that have not ended yet. */
  readonly openCalls: CallEvent[];
  /** What waits for a person's answer, the oldest if there are several. */
  readonly approval: ApprovalRequest | null;
  /** Everything that waits for a person's answer, the oldest first. */
  readonly approvals: ApprovalRequest[];
  /**
   * Sends a user message. Runs the agent unless `run: false`. While calls wait for approval the server would take a running
   * message for a yes: it is refused with `approval_pending` unless `approvePending` is true.
   */
  send(content: string | ContentPart[], options?: Waiting & { run?: boolean; approvePending?: boolean }): Promise<void>;
  /** Resolves when the turn is over and every authorised call is settled. At once, if nothing runs. */
  idle(options?: Waiting): Promise<TurnEnd>;
  history(options?: HistoryOptions): Promise<HistoryPage>;
  /**
   * Adds a tool, or declares a known one anew: calls that are let through from now on get the new handler, and those before keep
   * what they had. Another schema is a `tool_conflict` with an OpenHands server; UiPath's agents have it from the next turn on.
   */
  declare(tool: Tool | ToolDefinition): Promise<void>;
  /**
   * Takes a tool back: calls that are let through from now on end as `missing_handler`, and those before go on. UiPath's agents
   * are not offered it any more. Rejects with `unknown_tool` when there is none of this name.
   */
  undeclare(name: string): Promise<void>;
  /** Cancels a call: its handler's signal aborts and its outcome is `cancelled`. */
  cancel(callId: string, reason?: string): Promise<void>;
  on<T extends keyof ConversationEvents>(type: T, listener: (event: ConversationEvents[T]) => void): () => void;
  /** Ends the connection. Running handlers are aborted; waiting promises reject with `closed`. Safe to call twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** And what only an OpenHands agent-server can do with one. */
export interface OpenHandsConversation extends Conversation {
  /** Lets the agent go on without a new message. The same holds as for `send`. */
  run(options?: Waiting & { approvePending?: boolean }): Promise<void>;
  /** Stops the agent between two steps. */
  pause(options?: Waiting): Promise<void>;
  /** Stops the agent at once: calls that are not let through yet never will be. */
  interrupt(options?: Waiting): Promise<void>;
  /** Asks before calls by another policy from now on; in the server's words, for example `{ kind: "AlwaysConfirm" }`. */
  setConfirmationPolicy(policy: { readonly kind: string; readonly [key: string]: unknown }, options?: Waiting): Promise<void>;
  /** Copies the conversation, up to an event if one is given, and opens the copy with the tools declared by now. */
  fork(options?: Waiting & ForkOptions): Promise<OpenHandsConversation>;
  /** Deletes the conversation at the server, and closes it. */
  delete(options?: Waiting): Promise<void>;
  /** Changes the title, or all tags. */
  update(changes: { title?: string; tags?: { readonly [key: string]: string } }, options?: Waiting): Promise<void>;
  /** Makes an event the end of what the agent sees; `null` is the start. */
  navigate(eventId: string | null, options?: Waiting): Promise<void>;
  /** Uses another model, in the server's words. */
  switchLlm(llm: { readonly [key: string]: unknown }, options?: Waiting): Promise<void>;
  /** Asks the agent something beside the conversation; nothing of it enters the log. */
  ask(question: string, options?: Waiting): Promise<string>;
  /** Shortens what the agent remembers. */
  condense(options?: Waiting): Promise<void>;
}

// ---------------------------------------------------------------- servers

export interface ForkOptions {
  /** The last event of the copy. */
  eventId?: string;
  /** A UUID of your own for the copy. */
  conversationId?: string;
  title?: string;
  tags?: { readonly [key: string]: string };
}

export interface OpenHandsOptions {
  /** Base URL of the agent-server, for example `http://localhost:8000`. */
  url: string;
  /**
   * Goes into a header and the first WebSocket frame, never into a URL. A function is asked before every connection. */
  sessionKey?: string | (() => string | Promise<string>);
}

/** What every server takes for a conversation. */
export interface ConversationOptions extends Waiting {
  tools?: ReadonlyArray<Tool | ToolDefinition>;
  guards?: readonly Guard[];
  limits?: Limits;
  /** Takes the place of the schema engine, whose wasm is then never fetched. A library's schema of a tool goes before it. */
  validator?: Validator;
  /**
   * `true`: no `message` and no `expected` of an issue repeats a value that was given, so that reports may go into logs. Names
   * of properties stay, and so does what the schema says. Of a validator's own issues only `path` and `keyword` are kept.
   */
  maskValues?: boolean;
}

/**
 * Holds a value against a schema, as the app wants it: arguments before the handler, or a result after it. Answers with what is
 * wrong, or with nothing. What it throws ends the call as `failed` with `validator_threw`, and a check that takes longer than the
 * tool's `timeout` with `check_timed_out`. The same schema is always the same object, to compile it once. `tool` is `undefined` where
 * the schema is the server's and the tool is not declared here.
 */
export type Validator = (
  schema: any,
  value: any,
  about: { tool: string | undefined; part: "input" | "output" },
) => readonly ValidatorIssue[] | undefined | void | Promise<readonly ValidatorIssue[] | undefined | void>;

/** What a validator finds: an issue of a Standard Schema has this form. */
export interface ValidatorIssue {
  message: string;
  /** JSON Pointer, or the keys on the way. */
  path?: string | ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>;
  /** Default `"validator"`. */
  keyword?: string;
  expected?: Json;
}

/** What a page takes at most: whole numbers, 1 to 2147483647. Whatever is beyond is told, with its size and the limit. */
export interface Limits {
  /** Bytes of a call's arguments as JSON. A call beyond ends as `failed` with `arguments_too_large`. Default 4194304. */
  argumentBytes?: number;
  /** How deep arrays and objects may lie in each other in them. The same. Default 100. */
  argumentDepth?: number;
  /** Bytes of a result as JSON. A call beyond ends as `failed` with `result_too_large`; its handler has run. Default 4194304. */
  resultBytes?: number;
  /** Bytes of a frame from the server. One beyond is dropped, and a `frame_too_large` notice says so. Default 67108864. */
  frameBytes?: number;
  /** Calls of this page on their way. One beyond ends as `failed` with `too_many_calls`. Default 1000. */
  pendingCalls?: number;
  /** What the app waits for: messages, requests, `idle()`. One beyond rejects with `limit_exceeded`. Default 1000. */
  pendingRequests?: number;
  /** Events that wait for a `for await` loop. Then it ends with `limit_exceeded`, once it has read them. Default 100000. */
  unreadEvents?: number;
}

/** Fields of `POST /api/conversations` that pass through beside these are kept as given. */
export interface StartOptions extends ConversationOptions {
  /** A UUID of your own: creates the conversation, or attaches when it exists. */
  conversationId?: string;
  /** As for `attach`, when the conversation exists. */
  resumeWithin?: number;
  /**
   * `"message"`: the agent is told the outcomes of its calls in one marked user message once it rests, which starts a turn.
   * Default `"none"`: the server has no other way for a result, and the agent learns nothing of it.
   */
  results?: "none" | "message";
  /** The agent, as the server documents it. One of `agent`, `agent_settings`, `agent_profile_id`. */
  agent?: { readonly [key: string]: unknown };
  /** A path on the server, or the server's workspace object. */
  workspace: string | { readonly [key: string]: unknown };
  /** Everything else of the create request, in the server's own words. */
  [field: string]: unknown;
}

export interface AttachOptions extends ConversationOptions {
  /**
   * How long this browser may have been away from the conversation, in milliseconds, and still be given what happened
   * meanwhile, calls included. Default 300000: a reload, a crash, a short nap. 0 takes all of it for history. At most 7 days.
   */
  resumeWithin?: number;
  /** As for `start`. */
  results?: "none" | "message";
}

/** One of the server's conversations. The fields are the server's own. */
export interface ConversationInfo { id: string; execution_status?: string; title?: string | null; tags?: { [key: string]: string }; [field: string]: unknown }

export interface ListOptions extends Waiting {
  /** Conversations on a page, 1 to 100. Default 100. */
  limit?: number;
  /** `next` of the page before. */
  page?: string;
  status?: string;
  /** In the server's words: `CREATED_AT`, `UPDATED_AT`, each also with `_DESC`. */
  order?: string;
}

export interface Server {
  /** Creates a conversation, connects, and resolves when it is safe to speak. */
  start(options: StartOptions): Promise<OpenHandsConversation>;
  /** Joins a conversation that exists. What is already in its log never runs a handler. */
  attach(conversationId: string, options?: AttachOptions): Promise<OpenHandsConversation>;
  /** The server's conversations, a page at a time. */
  list(options?: ListOptions): Promise<{ conversations: ConversationInfo[]; next: string | null }>;
}

export function openhands(options: OpenHandsOptions): Server;

export interface UiPathOptions {
  /** Base URL: `https://api.uipath.com`. The portal's host does not answer pages. */
  url: string;
  /** Name or id. */
  organization: string;
  /** Name or id. */
  tenant: string;
  /** A bearer token, without the word. A function is asked before every connection. It never goes into a URL. */
  token: string | (() => string | Promise<string>);
  /** For whom an app-scoped token speaks: letters, digits, `.`, `_` and `-`, 255 at most. */
  externalUser?: string;
  /** The path of the socket, where it is an unusual one. */
  socketPath?: string;
  /** What the page is called in the service's statistics. */
  surface?: { name: string; version?: string };
}

export interface UiPathAttachOptions extends ConversationOptions {
  /** As for OpenHands. */
  resumeWithin?: number;
  /**
   * Whether a call that has the name of a tool, but not the mark of a client's, is answered with an error when it stays open:
   * an agent with a guardrail forgets the mark and waits. Default `false`. It is never run.
   */
  answerUnflagged?: boolean;
}

/** Fields of `POST /conversation` that pass beside these are kept as given. */
export interface UiPathStartOptions extends UiPathAttachOptions {
  agentReleaseId: number;
  folderId: number;
  /** The title, 100 characters at most. */
  label?: string;
  [field: string]: unknown;
}

/** A conversation with a UiPath agent, which waits for the outcome of each of its calls. */
export interface UiPathConversation extends Conversation {
  /** The title, once the service has said it. */
  readonly label: string | undefined;
  /** Ends the turn. What waits is rejected and what runs is cancelled first, and the agent is told. */
  stop(reason?: string, options?: Waiting): Promise<void>;
  /** Changes the title and the like, in the service's words. */
  update(changes: { readonly [key: string]: unknown }, options?: Waiting): Promise<{ [key: string]: Json }>;
  /** Deletes the conversation at the service, and closes it. */
  delete(options?: Waiting): Promise<void>;
  feedback(exchangeId: string, rating: "positive" | "negative", options?: Waiting & { comment?: string }): Promise<void>;
  /** Stores a file with the service. What it returns may be a part of a message. */
  upload(file: Blob, options?: Waiting & { name?: string }): Promise<Attachment>;
  /** Opens a stream of input beside the messages, for speech. */
  openInput(options: Waiting & InputStreamOptions): Promise<InputStream>;
  /** Tells the agent's side something of the app's own. */
  sendMetaEvent(event: object, options?: Waiting & { exchangeId?: string; messageId?: string }): Promise<void>;
}

export interface InputStreamOptions {
  mimeType: string;
  startOfSpeechSensitivity?: "UNSPECIFIED" | "HIGH" | "LOW";
  endOfSpeechSensitivity?: "UNSPECIFIED" | "HIGH" | "LOW";
  prefixPaddingMs?: number;
  silenceDurationMs?: number;
  metaData?: object;
}
export interface InputStream {
  readonly id: string;
  /** Text, or base64 of sound. */
  write(data: string): Promise<void>;
  end(): Promise<void>;
}

/** What the service says about an agent, a conversation or a user. The fields are its own. */
export interface ServiceObject { [field: string]: Json }

export interface UiPathServer {
  /** Creates a conversation with an agent, and resolves when it is safe to speak. */
  start(options: UiPathStartOptions): Promise<UiPathConversation>;
  /** Joins a conversation. A question that waits is asked again; what runs nowhere any more is told to the agent. */
  attach(conversationId: string, options?: UiPathAttachOptions): Promise<UiPathConversation>;
  agents(options?: Waiting & { folderId?: number }): Promise<ServiceObject[]>;
  agent(folderId: number, agentId: number, options?: Waiting): Promise<ServiceObject>;
  /** The user's conversations, a page at a time. */
  list(
    options?: Waiting & {
      limit?: number; page?: string; sort?: "ascending" | "descending"; agentReleaseKey?: string; agentReleaseId?: number; search?: string;
    },
  ): Promise<{ conversations: ServiceObject[]; next: string | null }>;
  settings(options?: Waiting): Promise<ServiceObject>;
  updateSettings(changes: { readonly [field: string]: string | null }, options?: Waiting): Promise<ServiceObject>;
}

/** UiPath's conversation service. */
export function uipath(options: UiPathOptions): UiPathServer;

export interface DispatcherOptions extends OpenHandsOptions, AttachOptions {
  conversationId: string;
}

/** A conversation over a connection of the app's: everything but the hearing goes over REST. */
export interface Dispatcher extends OpenHandsConversation {
  /**
   * A frame or an event, as text or parsed, in the order in which they came; again is harmless. What was there before the app
   * came (`past`, or what a session socket replays first) runs nothing.
   */
  receive(frame: string | object, options?: { past?: boolean }): void;
}

/** The runtime of the tools alone, for an app that has a socket already. */
export function dispatcher(options: DispatcherOptions): Promise<Dispatcher>;

// ---------------------------------------------------------------- loading and errors

export type WasmSource =
  | string | URL | Request | Response | BufferSource | WebAssembly.Module | Promise<Response | WebAssembly.Module>;

/** Where the WebAssembly files are; `true` is beside the script. */
export interface WasmSources {
  /** The core that speaks with OpenHands' servers. */
  openhands?: WasmSource | true;
  /** The core that speaks with UiPath's service. */
  uipath?: WasmSource | true;
  /** The JSON Schema engine. */
  schema?: WasmSource | true;
}

/** Loads WebAssembly files ahead of need, or from an unusual place. Nothing has to call it. */
export function init(sources: WasmSources): Promise<void>;

/** Every code an error of pagehand can carry. The README's table says when each comes and what to do. */
export type ErrorCode =
  | "invalid_argument" | "invalid_tool" | "tool_conflict" | "tool_collision" | "duplicate_tool" | "announcement_refused"
  | "unsupported_server" | "unauthorized" | "not_found" | "invalid_request" | "request_refused" | "conflict"
  | "already_running" | "capacity" | "server_error" | "unreachable" | "request_timeout" | "bad_response"
  | "conversation_failed" | "conversation_unavailable" | "unconfirmed" | "approval_pending" | "approval_answered"
  | "invalid_edit" | "unknown_call" | "unknown_tool" | "limit_exceeded"
  | "closed" | "unsupported_environment" | "wasm_unavailable" | "internal_panic";

/** Every rejection. `code` tells what `details` holds. */
export type PagehandError = { [Code in ErrorCode]: PagehandErrorOf<Code> }[ErrorCode];

export interface PagehandErrorOf<Code extends ErrorCode> extends Error {
  readonly name: "PagehandError";
  readonly code: Code;
  /** Plain JSON. */
  readonly details: ErrorDetails[Code];
  /** `true` when the same request may succeed later. */
  readonly retryable: boolean;
}

/** Their class. pagehand alone makes them; `isInstance` also knows those of another copy of the package. */
export const PagehandError: PagehandErrorClass;
export interface PagehandErrorClass extends Function {
  readonly prototype: PagehandError;
  isInstance(value: unknown): value is PagehandError;
}

// ---------------------------------------------------------------- OpenHands events

interface OpenHandsEventBase {
  id: string;
  /** Naive server-local time: an opaque string, not for ordering. */
  timestamp?: string;
  source?: "agent" | "user" | "environment" | "hook";
  parent_id?: string;
}
export interface OpenHandsContent { type: string; text?: string; image_urls?: string[]; cache_prompt?: boolean }
export interface OpenHandsClassification { kind: string; retryable: boolean; user_action: string; error_id?: string }

export type OpenHandsEvent =
  | (OpenHandsEventBase & { kind: "MessageEvent"; llm_message: { role: string; content: OpenHandsContent[] }; activated_skills?: string[]; sender?: string })
  | (OpenHandsEventBase & {
      kind: "ActionEvent"; tool_name: string; tool_call_id: string; action?: { kind: string; [argument: string]: unknown } | null;
      tool_call?: { id: string; name: string; arguments: string; origin?: string }; thought?: OpenHandsContent[];
      llm_response_id?: string; security_risk?: string; summary?: string;
    })
  | (OpenHandsEventBase & { kind: "ObservationEvent"; tool_name: string; tool_call_id: string; action_id: string; observation: { kind: string; content?: OpenHandsContent[]; is_error?: boolean } })
  | (OpenHandsEventBase & { kind: "UserRejectObservation"; tool_name: string; tool_call_id: string; action_id: string; rejection_reason: string; rejection_source?: string })
  | (OpenHandsEventBase & { kind: "AgentErrorEvent"; tool_name: string; tool_call_id: string; error: string; classification?: OpenHandsClassification })
  | (OpenHandsEventBase & { kind: "SystemPromptEvent"; system_prompt: OpenHandsContent; tools: unknown[]; dynamic_context?: unknown })
  | (OpenHandsEventBase & { kind: "ConversationStateUpdateEvent"; key: string; value: unknown })
  | (OpenHandsEventBase & { kind: "ConversationErrorEvent"; code: string; detail: string; classification?: OpenHandsClassification })
  | (OpenHandsEventBase & { kind: "ServerErrorEvent"; code: string; detail: string })
  | (OpenHandsEventBase & { kind: "PauseEvent" })
  | (OpenHandsEventBase & { kind: "InterruptEvent" })
  | (OpenHandsEventBase & { kind: "CondensationRequest" })
  | (OpenHandsEventBase & { kind: "Condensation"; forgotten_event_ids?: string[]; summary?: string; summary_offset?: number; llm_response_id?: string })
  | (OpenHandsEventBase & { kind: "CondensationSummaryEvent"; summary: string })
  | (OpenHandsEventBase & { kind: "HookExecutionEvent"; hook_event_type: string; hook_command: string; tool_name?: string; success: boolean; blocked: boolean; exit_code: number; reason?: string; action_id?: string })
  | (OpenHandsEventBase & { kind: "StreamingDeltaEvent"; content?: string; reasoning_content?: string })
  | (OpenHandsEventBase & { kind: "LLMCompletionLogEvent"; filename: string; log_data: string; model_name?: string; usage_id?: string })
  | (OpenHandsEventBase & { kind: "TokenEvent"; prompt_token_ids: number[]; response_token_ids: number[] })
  | (OpenHandsEventBase & { kind: "ACPToolCallEvent"; tool_call_id: string; title: string; status?: string; tool_kind?: string; raw_input?: unknown; raw_output?: unknown; is_error?: boolean })
  | (OpenHandsEventBase & { kind: "SecurityAnalysisEvent"; analyzer: string; policy: string; risks: { [actionId: string]: string }; details?: unknown })
  | UnknownOpenHandsEvent;

/** A kind that this version does not know, kept whole: what is left when all others are told apart by `kind`. */
export interface UnknownOpenHandsEvent { id?: string; kind: UnknownKind; [field: string]: unknown }
/**
 * A text that is none of the known kinds. TypeScript has no word for that; a pattern that no kind has keeps it apart from them.
 * The text is what the server sent: compare it as a `string`.
 */
export type UnknownKind = `(unknown) ${string}`;
