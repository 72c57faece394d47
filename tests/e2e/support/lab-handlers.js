// What the handlers of declared tools do, by name.

/** The gates that hold handlers until a test opens them: all handlers of the page share them. */
const gates = new Map();
export function gate(name) {
  if (!gates.has(name)) {
    let open;
    const opened = new Promise((resolve) => (open = resolve));
    gates.set(name, { opened, open });
  }
  return gates.get(name);
}

/** What ends with the page, and not before. */
export const never = () => new Promise(() => {});

/** What a tool's handler can do, by name. `this` is its declaration. */
export const HANDLERS = {
  echo: (args) => ({ echo: args }),
  async slow_echo(args) {
    await gate(this.gate).opened;
    return { echo: args };
  },
  /** Takes about as long as a handler that asks its own server for something. */
  async fetches(args) {
    const asked = fetch("/lab.js").then((response) => response.text());
    // Firefox breaks it off when the page is about to be left, and the handler would fail before the page ends.
    await asked.catch(never);
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
    await conversation.declare(this.talk.tool(this.declares));
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
export const CONFIRMS = {
  large: async ({ size }) => size > 10,
  throws() {
    throw new Error("no opinion");
  },
};
