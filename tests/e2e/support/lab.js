// The page's side of the tests: conversations with declared tools, and a tape of all that happens to them.
// Tests reach it as `window.lab`; what goes in and out is JSON.

const TOPICS = ["call", "approval", "status", "message", "delta", "event", "connection", "tools", "notice", "error", "condition", "label"];

/** What went wrong outside of any test's sight. */
const troubles = [];
addEventListener("securitypolicyviolation", (event) => {
  troubles.push(`CSP: ${event.violatedDirective} forbids ${event.blockedURI}`);
});
addEventListener("error", (event) => troubles.push(`error: ${event.message}`));
addEventListener("unhandledrejection", (event) => troubles.push(`rejection: ${describe(event.reason).message}`));

const pagehand = await import("/pkg/index.js");
const page = new URL(location.href).searchParams.get("page");

/**
 * Tells the test of a run before the handler does anything, and waits until it is noted, so that no run is missed even if the
 * page ends right after. Nothing but a synchronous request does that.
 */
function report(conversation, callId, tool, args) {
  const request = new XMLHttpRequest();
  request.open("POST", "/runs", false);
  try {
    request.send(JSON.stringify({ page, conversation: conversation.id, callId, tool, args }));
  } catch {
    // Firefox breaks it off when the page is left; it has most often arrived.
  }
}

/** @type {Map<string, Talk>} */
const talks = new Map();

/** What every handler of the page shares: the gates that hold handlers until a test opens them. */
const gates = new Map();
function gate(name) {
  if (!gates.has(name)) {
    let open;
    const opened = new Promise((resolve) => (open = resolve));
    gates.set(name, { opened, open });
  }
  return gates.get(name);
}

const never = () => new Promise(() => {});

/** The arguments of the run that began last, as they came and as the handler saw them. */
let argumentsText;
let argumentsSeen;

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

/** What a tool's handler can do, by name. `this` is its declaration. */
const HANDLERS = {
  echo: (args) => ({ echo: args }),
  async slow_echo(args) {
    await gate(this.gate).opened;
    return { echo: args };
  },
  /** Takes about as long as a handler that asks its own server for something. */
  async fetches(args) {
    await (await fetch("/lab.js")).text();
    return { echo: args };
  },
  throws() {
    throw new TypeError("no luck");
  },
  rejects: () => Promise.reject(new RangeError("later no luck")),
  throws_text() {
    throw "just words";
  },
  throws_nothing: () => Promise.reject(undefined),
  throws_once(args) {
    this.thrown = (this.thrown ?? 0) + 1;
    if (this.thrown === 1) throw new Error("the first time");
    return { echo: args };
  },
  never,
  wrong_result: () => ({ count: "many" }),
  function_result: () => ({ pay: 1n }),
  nothing() {},
  /** Results that JSON cannot carry, or carries as something else. */
  bigint: () => 10n ** 20n,
  cycle() {
    const ring = {};
    ring.ring = ring;
    return ring;
  },
  date: () => new Date(0),
  /** Results of every kind, by the name that the call gives. */
  result_of: ({ what }) => RESULTS[what](),
  text: () => "abc",
  list: () => [{ ok: true, n: null }],
  huge: ({ size }) => ({ text: "x".repeat(size) }),
  async sends(_args, { conversation }) {
    await conversation.send("said by a handler", { run: false });
    return "sent";
  },
  async declares(_args, { conversation }) {
    const talk = talks.get(this.talk);
    await conversation.declare(talk.tool(this.declares));
    return "declared";
  },
  async closes(_args, { conversation }) {
    await conversation.close();
    return "closed";
  },
  async cancels_itself(_args, { conversation, callId }) {
    await conversation.cancel(callId, "thought better of it");
    return "too late";
  },
};

const RESULTS = {
  cycle: HANDLERS.cycle,
  bigint: () => ({ deep: [1n] }),
  undefined: () => undefined,
  date: () => new Date(0),
  error: () => new TypeError("as a value"),
  function: () => () => 1,
  symbol: () => Symbol("s"),
  map: () => new Map([["a", 1]]),
  bytes: () => new Uint8Array([1, 2]),
  getter: () => ({ get a() { throw new Error("a getter's own"); } }),
  toJSON: () => ({ toJSON() { throw new Error("its own"); } }),
  numbers: () => [NaN, Infinity, -0],
  proto: () => JSON.parse('{"__proto__":{"polluted":true}}'),
  surrogate: () => "\ud800",
  "15 kB": () => "x".repeat(15_000),
  "1 MB": () => "x".repeat(1_000_000),
  proxy: () => new Proxy({}, { ownKeys() { throw "a trap's own"; } }),
};

/** What a tool's `confirm` can be, beside a boolean. */
const CONFIRMS = {
  large: async ({ size }) => size > 10,
  throws() {
    throw new Error("no opinion");
  },
};

/** One conversation and its tape. */
class Talk {
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
    report(conversation, callId, tool, args);
  }

  /** A tool as pagehand takes it, from a declaration of the test. */
  tool({ handler, ...declaration }) {
    if (typeof declaration.confirm === "string") declaration.confirm = CONFIRMS[declaration.confirm];
    if (handler === undefined) return pagehand.tool(declaration);
    const { kind = handler, ...more } = typeof handler === "object" ? handler : {};
    const state = { ...more, talk: this.name };
    const execute = async (args, context) => {
      const { callId, signal } = context;
      argumentsText = context.argumentsText;
      argumentsSeen = JSON.stringify(args);
      this.run(context, declaration.name, args);
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
function recorded(topic, value) {
  if (topic === "approval") return { id: value.id, calls: value.calls };
  return topic === "call" && "thrown" in value ? { ...value, thrown: describe(value.thrown) } : structuredClone(value);
}

/** Whether a value has everything that the pattern has. */
function fits(pattern, value) {
  if (typeof pattern !== "object" || pattern === null) return Object.is(pattern, value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(pattern).every(([key, part]) => fits(part, value[key]));
}

/** A thrown value for a reader in another process. */
function describe(thrown) {
  if (typeof thrown !== "object" || thrown === null) return { type: typeof thrown, message: String(thrown) };
  const { name, message, code, details, retryable, stack } = thrown;
  const isError = thrown instanceof Error || thrown instanceof DOMException;
  const pagehands = pagehand.PagehandError.isInstance(thrown);
  return { type: "object", isError, pagehands, name, message, code, details, retryable, stack };
}

/** While the debugger evaluates, the page's policy is lifted. In a task of its own, code is under it again. */
const ordinary = () => new Promise((resolve) => setTimeout(resolve));

/** Answers `{ value }` or `{ error }`. */
async function attempt(work) {
  await ordinary();
  try {
    return { value: (await work()) ?? null };
  } catch (error) {
    return { error: describe(error) };
  }
}

const signals = new Map();
function signalOf(name) {
  if (name === undefined) return undefined;
  if (!signals.has(name)) signals.set(name, new AbortController());
  return signals.get(name).signal;
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
  /** Every record of every store of the ledger. */
  stored: () =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open("pagehand");
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const database = opening.result;
        const names = [...database.objectStoreNames];
        const transaction = database.transaction(names);
        const reads = names.map((name) => transaction.objectStore(name).getAll());
        transaction.oncomplete = () => {
          database.close();
          resolve(reads.flatMap(({ result }) => result));
        };
      };
    }),

  /** Leaves things among the records of the one conversation that the ledger knows. Answers with the ids of the calls they are about. */
  litter: () =>
    new Promise((resolve, reject) => {
      const ring = {};
      ring.ring = ring;
      const odd = {
        half: {},
        "half and open": { open: 1 },
        "of other types": { owner: 5, tool: [], at: "yesterday", until: {}, outcome: 7, open: 1 },
        "of a later version": { owner: { page: "p" }, at: new Date(), outcome: new Map(), open: 1, version: 9 },
        "no JSON": { open: 1, n: 10n },
        "a ring": { open: 1, ring },
        "words for an outcome": { owner: "o", tool: "t", at: Date.now(), until: Date.now(), outcome: "well" },
        "a number for an outcome": { owner: "o", tool: "t", at: Date.now(), until: Date.now(), outcome: "5" },
        "an owed outcome that is none": { owner: "o", tool: "t", at: Date.now(), until: Date.now(), outcome: "[]", open: 1 },
        "half, before a reload": {},
        "half and open, before a reload": { open: 1 },
      };
      const opening = indexedDB.open("pagehand");
      opening.onsuccess = () => {
        const database = opening.result;
        const transaction = database.transaction(["entries", "places"], "readwrite");
        const [entries, places] = [transaction.objectStore("entries"), transaction.objectStore("places")];
        entries.getAll().onsuccess = ({ target }) => {
          const [{ conversation }] = target.result;
          for (const [id, entry] of Object.entries(odd)) entries.add({ conversation, subject: `call ${id}`, ...entry });
          for (const subject of [5, new Date(), ["call", "a"]]) entries.add({ conversation, subject, open: 1 });
          entries.add({ conversation: [], subject: 5, open: 1 });
          places.put({ conversation, position: 5, at: ring });
          places.put({ conversation: 5, n: 1n });
        };
        transaction.onabort = () => reject(transaction.error);
        transaction.oncomplete = () => {
          database.close();
          resolve(Object.keys(odd));
        };
      };
    }),

  /** Brings the ledger's database to this version. */
  takeDatabase: (version) =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open("pagehand", version);
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => resolve(opening.result.close());
    }),

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
