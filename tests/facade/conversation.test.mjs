// Conversations over real sockets, with the mock agent server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { agent, bundled, freshCopy, load, mockServer, until, rejection, wasm, withSockets } from "./help.mjs";

// What looks into the modules needs them apart.
const testInside = bundled ? () => {} : test;

await withSockets(import.meta.url, conversations);

async function conversations() {
  const { dispatcher, openhands, tool, PagehandError } = await load("index.js");

  const numbers = {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer", maximum: 10 } },
    required: ["a", "b"],
  };
  const add = (execute) => tool({ name: "add", description: "Adds", inputSchema: numbers, execute });
  const calling = (name, args) => ({ tool_calls: [{ name, arguments: args }] });
  const done = { finish: "done" };

  const setUp = async (t, steps, tools, more = {}) => {
    const mock = await mockServer(t, { play: steps });
    const server = openhands({ url: mock.url, sessionKey: "canary-key" });
    const start = { workspace: "/workspace/project", agent: agent("play"), tools, stuck_detection: false, ...more };
    const conversation = await server.start(start);
    t.after(() => conversation.close());
    return { mock, server, conversation };
  };
  /** Listens to a topic from now on. */
  const record = (conversation, topic) => {
    const heard = [];
    conversation.on(topic, (event) => heard.push(event));
    return heard;
  };
  const play = async (conversation) => {
    await conversation.send("go");
    return conversation.idle();
  };

  test("declare, call, answer", async (t) => {
    const contexts = [];
    const sum = add((args, context) => {
      contexts.push(context);
      return { sum: args.a + args.b };
    });
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [sum]);
    assert.deepEqual([conversation.created, conversation.status, conversation.openCalls], [true, "idle", []]);
    assert.deepEqual(conversation.tools.ready, ["add"]);
    const calls = record(conversation, "call");
    const messages = record(conversation, "message");

    assert.deepEqual(await play(conversation), { status: "finished" });

    const states = calls.map((call) => call.state);
    assert.deepEqual(states, ["announced", "authorised", "validating", "claiming", "running", "settled"]);
    for (const call of calls) {
      assert.deepEqual([call.tool, call.callId, call.arguments], ["add", contexts[0].callId, { a: 1, b: 2 }]);
    }
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: { sum: 3 } });
    assert.equal(contexts.length, 1);
    assert.equal(contexts[0].conversation, conversation);
    assert.equal(contexts[0].signal.aborted, false);
    assert.deepEqual(messages.map((message) => message.role), ["user", "assistant"]);
    assert.deepEqual([conversation.status, conversation.openCalls], ["finished", []]);
  });

  test("listeners that are added after start miss nothing", async (t) => {
    const { conversation } = await setUp(t, [], []);
    const states = record(conversation, "connection");
    const tools = record(conversation, "tools");
    assert.equal(states.length, 0);
    await until(() => tools.length > 0);
    assert.deepEqual(states.map((event) => event.state), ["connecting", "connected", "ready"]);
    assert.deepEqual(tools, [conversation.tools]);
  });

  test("what a handler threw stays what it was", async (t) => {
    const thrown = Object.assign(new TypeError("no such file"), { path: "/x" });
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [
      add(() => {
        throw thrown;
      }),
    ]);
    const calls = record(conversation, "call");
    await play(conversation);
    const { outcome, thrown: told } = calls.at(-1);
    assert.deepEqual(outcome, { kind: "failed", code: "handler_threw", name: "TypeError", message: "no such file" });
    assert.equal(told, thrown);
  });

  test("arguments that do not fit never reach a handler", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 11 }), done], [add(() => assert.fail("it ran"))]);
    const calls = record(conversation, "call");
    await play(conversation);
    const { kind, issues } = calls.at(-1).outcome;
    assert.equal(kind, "invalid_arguments");
    assert.deepEqual(issues.map(({ path, keyword, expected }) => ({ path, keyword, expected })), [
      { path: "/b", keyword: "maximum", expected: 10 },
    ]);
  });

  test("a result that does not fit is an outcome of its own", async (t) => {
    const lying = tool({
      name: "lie",
      description: "Lies",
      outputSchema: { type: "object", required: ["truth"] },
      execute: () => ({}),
    });
    const { conversation } = await setUp(t, [calling("lie", {}), done], [lying]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.equal(calls.at(-1).outcome.kind, "invalid_output");
  });

  test("a tool with a bad schema is told, and the others go on", async (t) => {
    const bad = tool({
      name: "bad",
      description: "Has a bad schema",
      inputSchema: { type: "object", properties: { a: { type: "strange" } } },
      execute: () => 1,
    });
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [bad, add(() => 3)]);
    const errors = record(conversation, "error");
    const calls = record(conversation, "call");
    await play(conversation);
    assert.equal(calls.at(-1).outcome.result, 3);
    assert.equal(errors.at(0)?.code, "invalid_tool");
    assert.equal(errors[0].details.tool, "bad");
  });

  test("a schema engine that is missing fails the call, and is tried again for the next", async (t) => {
    const fresh = await load("index.js", await freshCopy(t, ["schema.wasm"]));
    const mock = await mockServer(t, { play: [calling("add", { a: 1, b: 2 }), calling("add", { a: 2, b: 3 }), done] });
    const server = fresh.openhands({ url: mock.url, sessionKey: "canary-key" });
    const sum = { name: "add", description: "Adds", inputSchema: numbers, execute: ({ a, b }) => a + b };
    const start = { workspace: "/workspace/project", agent: agent("play"), tools: [sum], stuck_detection: false };
    const conversation = await server.start(start);
    t.after(() => conversation.close());
    const outcomes = [];
    conversation.on("call", async ({ outcome }) => {
      if (outcome !== undefined) outcomes.push(outcome);
    });
    await play(conversation);
    assert.deepEqual(outcomes.map(({ kind, code }) => [kind, code]), [
      ["failed", "schema_engine_unavailable"],
      ["failed", "schema_engine_unavailable"],
    ]);
    await fresh.init({ schema: await wasm("schema.wasm") });
    await mock.ask("PUT", "/mock/scripts/play", { steps: [calling("add", { a: 3, b: 4 }), done] });
    await play(conversation);
    assert.deepEqual(outcomes.at(-1), { kind: "ok", result: 7 });
  });

  test("a handler may call anything, also close, on its own conversation", { timeout: 20_000 }, async (t) => {
    const steps = [];
    const busy = tool({
      name: "busy",
      description: "Calls back",
      async execute(_, { conversation }) {
        await conversation.declare({ name: "later", description: "Later", execute() {} });
        steps.push("declared");
        await conversation.send("from within", { run: false });
        steps.push("sent");
        await conversation.close();
        steps.push("closed");
      },
    });
    const { conversation } = await setUp(t, [calling("busy", {}), done], [busy]);
    await conversation.send("go");
    const error = await rejection(conversation.idle());
    assert.equal(error.code, "closed");
    await until(() => steps.includes("closed"));
    assert.deepEqual(steps, ["declared", "sent", "closed"]);
  });

  test("cancelling aborts the handler's signal", async (t) => {
    const reasons = [];
    const wait = tool({
      name: "wait",
      description: "Waits",
      execute: (_, { signal }) =>
        new Promise((_, fail) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason);
            fail(signal.reason);
          });
        }),
    });
    const { conversation } = await setUp(t, [calling("wait", {}), done], [wait]);
    const calls = record(conversation, "call");
    conversation.on("call", ({ state, callId }) => {
      if (state === "running") setTimeout(() => conversation.cancel(callId, "not wanted"));
    });
    await play(conversation);
    assert.deepEqual([reasons[0].name, reasons[0].message], ["AbortError", "not wanted"]);
    assert.equal(calls.at(-1).outcome.kind, "cancelled");
    assert.equal((await rejection(conversation.cancel("unknown"))).code, "unknown_call");
  });

  test("a deadline aborts with another reason", async (t) => {
    let reason;
    const slow = tool({
      name: "slow",
      description: "Never ends",
      timeout: 30,
      execute: (_, { signal }) => new Promise(() => signal.addEventListener("abort", () => (reason = signal.reason))),
    });
    const { conversation } = await setUp(t, [calling("slow", {}), done], [slow]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "timed_out", timeout: 30 });
    assert.equal(reason.name, "TimeoutError");
  });

  test("open calls are there from the announcement to the end", async (t) => {
    const seen = [];
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [
      add((_, { conversation, callId }) => {
        seen.push(conversation.openCalls.map((call) => [call.callId === callId, call.state, call.arguments]));
      }),
    ]);
    await play(conversation);
    assert.deepEqual(seen, [[[true, "running", { a: 1, b: 2 }]]]);
    assert.deepEqual(conversation.openCalls, []);
  });

  test("history comes in pages, both ways", async (t) => {
    const { conversation } = await setUp(t, [done], []);
    await play(conversation);
    const first = await conversation.history({ limit: 2 });
    assert.equal(first.events.length, 2);
    const second = await conversation.history({ limit: 2, page: first.next });
    const ids = [...first.events, ...second.events].map((event) => event.id);
    assert.equal(new Set(ids).size, ids.length);
    const newest = await conversation.history({ limit: 1, order: "newest" });
    assert.notEqual(newest.events[0].id, ids[0]);
    for (const options of [{ limit: 0 }, { limit: 101 }, { limit: "5" }, { order: "up" }, { page: null }, { size: 5 }]) {
      assert.equal((await rejection(conversation.history(options))).code, "invalid_argument", JSON.stringify(options));
    }
  });

  test("attach finds the conversation, and runs nothing of the past", async (t) => {
    let runs = 0;
    const sum = add(() => ++runs);
    const { server, conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [sum]);
    await play(conversation);
    await conversation.close();

    const again = await server.attach(conversation.id, { tools: [sum] });
    t.after(() => again.close());
    const notices = record(again, "notice");
    assert.deepEqual([again.id, again.created], [conversation.id, false]);
    // A whole turn later, what was before it has not run.
    await play(again);
    assert.equal(runs, 1);
    // Node has no IndexedDB.
    assert.deepEqual(notices.map(({ code }) => code), ["storage_unavailable"]);
  });

  test("content and options of send are checked", async (t) => {
    const { conversation } = await setUp(t, [], []);
    for (const [content, options] of [
      [undefined], [5], [{ type: "text" }], [[]], [[7n]],
      ["x", { run: "yes" }], ["x", { signal: 5 }], ["x", { Run: false }], ["x", null],
    ]) {
      assert.equal((await rejection(conversation.send(content, options))).code, "invalid_argument");
    }
    await conversation.send([{ type: "text", text: "hello" }], { run: false });
  });

  test("a signal ends the waiting, and the rest goes on", async (t) => {
    const { conversation } = await setUp(t, [{ hold: "abort-idle", finish: "done" }], []);
    await conversation.send("go");
    const controller = new AbortController();
    const waiting = conversation.idle({ signal: controller.signal });
    const other = conversation.idle();
    const reason = { mine: true };
    controller.abort(reason);
    assert.equal(await rejection(waiting), reason);
    assert.equal(await rejection(conversation.idle({ signal: controller.signal })), reason);
    await conversation.close();
    assert.equal((await rejection(other)).code, "closed");
  });

  test("a long-lived signal keeps no listeners", async (t) => {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = new Set();
    t.mock.method(signal, "addEventListener", (_, listener) => listeners.add(listener));
    t.mock.method(signal, "removeEventListener", (_, listener) => listeners.delete(listener));
    const { conversation } = await setUp(t, [done], [], { signal });
    await conversation.send("go", { signal });
    await conversation.idle({ signal });
    await conversation.history({ signal });
    assert.ok(signal.addEventListener.mock.callCount() >= 4);
    assert.equal(listeners.size, 0);
  });

  test("after close everything says closed, and closing again is fine", async (t) => {
    const { conversation } = await setUp(t, [], []);
    const states = record(conversation, "connection");
    const events = conversation[Symbol.asyncIterator]();
    const [one, two] = [conversation.close(), conversation.close()];
    assert.equal(one, two);
    const tooLate = [
      conversation.send("x"), conversation.run(), conversation.idle(), conversation.history(),
      conversation.declare({ name: "a", description: "b" }), conversation.cancel("x"),
    ];
    for (const promise of tooLate) assert.equal((await rejection(promise)).code, "closed");
    await one;
    await conversation[Symbol.asyncDispose]?.();
    assert.equal(states.at(-1).state, "closed");
    let last;
    for await (const event of { [Symbol.asyncIterator]: () => events }) last = event;
    assert.equal(last.type, "connection");
    assert.equal(typeof conversation.on("call", () => {}), "function");
  });

  test("a declared tool is there at once", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(undefined)]);
    const tools = record(conversation, "tools");
    assert.deepEqual(conversation.tools.missingHandlers, ["add"]);
    await conversation.declare(add(() => 3));
    assert.deepEqual(conversation.tools.ready, ["add"]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: 3 });
    assert.equal(tools.length, 2);
    const conflict = await rejection(conversation.declare({ name: "add", description: "Adds", execute() {} }));
    assert.equal(conflict.code, "tool_conflict");
    assert.equal((await rejection(conversation.declare({ name: "x" }))).code, "invalid_tool");
  });

  test("case_35_a_tool_is_declared_anew_and_its_confirmation_goes_with_its_handler", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [{ ...add(() => 1), confirm: true }]);
    await rejection(conversation.declare({ ...add(() => 2), inputSchema: undefined, parameters: undefined, confirm: false }));
    await conversation.declare({ ...add(() => 3), confirm: false });
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: 3 });
    assert.ok(!calls.some(({ state }) => state === "confirming"), "the new declaration asks nobody");
  });

  test("a tool is taken back by its name", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(() => 3)]);
    for (const [name, code] of [["sub", "unknown_tool"], [5, "invalid_argument"]]) {
      assert.equal((await rejection(conversation.undeclare(name))).code, code);
    }
    await conversation.undeclare("add");
    assert.deepEqual(conversation.tools.missingHandlers, ["add"]);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "missing_handler", tool: "add", registered: [] });
    await conversation.close();
    assert.equal((await rejection(conversation.undeclare("add"))).code, "closed");
  });

  test("case_34_whatever_a_handler_returns_has_an_outcome", async (t) => {
    const cyclic = {};
    cyclic.self = cyclic;
    const results = [
      ["x".repeat(15_000), "ok"],
      ["x".repeat(1_000_000), "ok"],
      ["x".repeat(4 * 1_048_576), "result_too_large"],
      [cyclic, "result_not_serializable"],
      [10n, "result_not_serializable"],
      [() => 1, "result_not_serializable"],
      [Symbol("s"), "result_not_serializable"],
      [undefined, "ok"],
      [new Error("e"), "ok"],
      [new Date(0), "ok"],
      [NaN, "ok"],
    ];
    const left = results.map(([result]) => result);
    const steps = results.map(() => calling("add", { a: 1, b: 2 }));
    const { conversation } = await setUp(t, [...steps, done], [add(() => left.shift())]);
    const calls = record(conversation, "call");
    await play(conversation);
    const outcomes = calls.filter(({ state }) => state === "settled").map(({ outcome }) => outcome);
    assert.deepEqual(outcomes.map(({ kind, code }) => code ?? kind), results.map(([, ends]) => ends));
    assert.deepEqual(outcomes.slice(7).map(({ result }) => result), [null, {}, "1970-01-01T00:00:00.000Z", null]);
  });

  test("what the app sets is the limit", async (t) => {
    const { conversation } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(() => "four")], { limits: { resultBytes: 5 } });
    const calls = record(conversation, "call");
    await play(conversation);
    assert.equal(calls.at(-1).outcome.message, "the result has 6 bytes, and the limit is 5");
  });

  testInside("a hundred conversations come and go", async (t) => {
    const mock = await mockServer(t, { play: [done] });
    const server = openhands({ url: mock.url, sessionKey: "canary-key" });
    for (let n = 0; n < 100; n++) {
      const conversation = await server.start({ workspace: "/workspace/project", agent: agent("play"), tools: [add(() => 1)] });
      await conversation.close();
    }
    const { core } = await load("openhands-core.js");
    assert.equal(core.inhabitants.size, 0);
  });

  test("the key is in no error, event or log", async (t) => {
    const told = [];
    for (const method of ["log", "warn", "error", "info", "debug"]) {
      const original = console[method];
      console[method] = (...words) => told.push(words.map(String).join(" "));
      t.after(() => (console[method] = original));
    }
    const { conversation, mock } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], [add(() => 3)]);
    const events = conversation[Symbol.asyncIterator]();
    await play(conversation);
    await conversation.close();
    for await (const event of { [Symbol.asyncIterator]: () => events }) told.push(JSON.stringify(event));
    assert.ok(told.length > 10);
    assert.ok(told.every((text) => !text.includes("canary-key")));
    const asked = await mock.ask("GET", "/mock/record");
    assert.ok(asked.every(({ path }) => !path?.includes("canary-key")));
  });

  test("arguments and results that are deep or large are dealt with, and the next call runs", async (t) => {
    const any = tool({ name: "any", description: "Takes all", execute: (args) => args });
    const { conversation, mock } = await setUp(t, [done, calling("any", {}), done], [any, add(() => 3)]);
    await play(conversation);
    const limits = { argumentBytes: 20_000_000, argumentDepth: 20_000, resultBytes: 20_000_000 };
    const tools = [any, add(() => 3)];
    const feed = dispatcher({ url: mock.url, sessionKey: "canary-key", conversationId: conversation.id, tools, limits });
    t.after(async () => (await feed).close());
    /** The outcome of a call that the server lets through with arguments that no model would give. */
    const give = async (name, args, fed) => {
      const id = crypto.randomUUID();
      const settled = new Promise((resolve) =>
        (fed ?? conversation).on("call", (call) => call.callId === id && call.state === "settled" && resolve(call.outcome)),
      );
      const tool = `"tool_name":"${name}","tool_call_id":"${id}"`;
      const action = `{"id":"${id}","kind":"ActionEvent","source":"agent","thought":[],${tool},"action":{"kind":"ClientAction_${name}",${args}}}`;
      const observation = '{"kind":"ClientToolObservation","content":[],"is_error":false}';
      const ack = `{"id":"${id}-ack","kind":"ObservationEvent","source":"environment",${tool},"action_id":"${id}","observation":${observation}}`;
      for (const event of [action, ack]) {
        if (fed !== undefined) fed.receive(event);
        else await mock.ask("POST", `/mock/frame/${conversation.id}`, { raw: `{"type":"transient","event":${event}}` });
      }
      return settled;
    };
    const deep = "[".repeat(10_000) + "]".repeat(10_000);
    assert.equal((await give("any", `"a":${deep}`)).code, "arguments_too_large");
    const outcome = await give("any", `"a":${deep}`, await feed);
    // What JSON.stringify makes of it is the engine's affair.
    assert.ok(outcome.kind === "ok" || outcome.code === "result_not_serializable", outcome.kind);
    const refused = await give("add", `"a":${deep},"b":1`, await feed);
    assert.equal(refused.kind, "invalid_arguments");
    // A session socket takes no frame above 4 MiB. An app's own may.
    for (const [length, fed] of [[4_000_000], [15_000_000, await feed]]) {
      const large = await give("any", `"a":"${"x".repeat(length)}"`, fed);
      assert.deepEqual([large.kind, large.result.a.length], ["ok", length]);
    }
    const proto = await give("any", '"a":{"__proto__":{"polluted":true}},"__proto__":{"polluted":true}');
    assert.deepEqual(Object.keys(proto.result).toSorted(), ["__proto__", "a"]);
    assert.equal({}.polluted, undefined);
    const schema = JSON.parse(`{"type":"object","properties":{"a":${'{"items":'.repeat(10_000)}{}${"}".repeat(10_000)}}}`);
    const error = await rejection(conversation.declare({ name: "deep", description: "Deep", inputSchema: schema, execute() {} }));
    assert.ok(["invalid_tool", "invalid_argument"].includes(error.code), error.code);
    const calls = record(conversation, "call");
    await play(conversation);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: {} });
  });

  // ---------------------------------------------------------------- the core is lost

  testInside("a trap rejects everything that waits, and the next conversation works", async (t) => {
    t.mock.method(console, "error", () => {});
    const { conversation, server } = await setUp(t, [{ hold: "trap", finish: "done" }], []);
    const other = await server.start({ workspace: "/workspace/project", agent: agent("play") });
    const errors = record(conversation, "error");
    await conversation.send("go");
    const waiting = rejection(conversation.idle());
    const { Session } = await load("openhands-glue.js");
    const { history } = Session.prototype;
    Session.prototype.history = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    const error = await rejection(conversation.history());
    Session.prototype.history = history;

    assert.equal(error.code, "internal_panic");
    assert.ok(PagehandError.isInstance(error));
    assert.equal(await waiting, error);
    assert.equal(errors.at(-1).code, "internal_panic");
    assert.equal((await rejection(conversation.send("x"))).code, "internal_panic");
    assert.equal((await rejection(other.idle())).code, "internal_panic");
    await conversation.close();
    await other.close();
    assert.equal((await rejection(conversation.send("x"))).code, "closed");
    assert.equal(console.error.mock.callCount(), 1);

    const next = await server.start({ workspace: "/workspace/project", agent: agent("play") });
    await next.send("go", { run: false });
    await next.close();
  });

  testInside("a panic of the core rejects everything that waits, says where and nothing else, and the next conversation works", async (t) => {
    t.mock.method(console, "error", () => {});
    let signal;
    const held = [];
    const execute = (_args, context) => {
      signal = context.signal;
      return new Promise((resolve) => held.push(resolve));
    };
    // Node waits for the timers of an instance that is lost.
    const hold = tool({ name: "add", description: "Adds", inputSchema: numbers, timeout: 3_000, execute });
    const two = { tool_calls: [1, 2].map((a) => ({ name: "add", arguments: { a, b: 2 } })) };
    const { conversation, server, mock } = await setUp(t, [two, done], [hold]);
    await mock.ask("PUT", "/mock/scripts/other", { steps: [{ hold: "panic", finish: "done" }] });
    const other = await server.start({ workspace: "/workspace/project", agent: agent("other") });
    const connections = record(conversation, "connection");
    for (const each of [conversation, other]) await each.send("canary words");
    await until(() => held.length === 2);
    const waiting = [conversation.idle(), other.idle()].map(rejection);
    const glue = await load("openhands-glue.js");
    const exports = await glue.default();
    const { undeclare } = glue.Session.prototype;
    // Nothing that an app or a server says makes the core panic. A border that lies does: no text is as long as this.
    glue.Session.prototype.undeclare = function (operation) {
      return exports.session_undeclare(this.__wbg_ptr, operation, 8, 0xffff_fff0);
    };
    const lost = rejection(conversation.undeclare("add"));
    // What is asked before anybody could hear of the panic, and what settles then, belongs to an instance that is no more.
    waiting.push(rejection(conversation.run()));
    held[0]({ sum: 3 });
    const error = await lost;
    glue.Session.prototype.undeclare = undeclare;

    assert.equal(error.code, "internal_panic");
    assert.match(error.details.message, /^a call: panicked at /);
    assert.ok(error.cause instanceof WebAssembly.RuntimeError);
    for (const rejected of waiting) assert.equal(await rejected, error);
    assert.equal(signal.reason, error);
    assert.equal(connections.at(-1).code, "internal_panic");
    assert.equal((await rejection(other.send("x"))).code, "internal_panic");
    const [printed, ...more] = console.error.mock.calls.map((call) => call.arguments.join(" "));
    assert.deepEqual(more, []);
    for (const said of [printed, JSON.stringify(error), error.message, error.stack]) assert.doesNotMatch(said, /canary/);
    await worksAgain(t, server, mock);
    // The test fails if this is an exception that nobody catches.
    held[1]({ sum: 4 });
    await new Promise((settled) => setTimeout(settled));
  });

  testInside("case_30_after_the_core_was_lost_the_declared_set_is_the_same", async (t) => {
    t.mock.method(console, "error", () => {});
    const tools = [add(() => 3)];
    const { conversation, server } = await setUp(t, [calling("add", { a: 1, b: 2 }), done], tools);
    const before = conversation.tools;
    const { Session } = await load("openhands-glue.js");
    const { history } = Session.prototype;
    Session.prototype.history = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    assert.equal((await rejection(conversation.history())).code, "internal_panic");
    Session.prototype.history = history;
    const next = await server.attach(conversation.id, { tools });
    t.after(() => next.close());
    assert.deepEqual(next.tools, before);
    const calls = record(next, "call");
    await play(next);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: 3 });
  });

  /** Takes all memory that the core could still have. */
  const exhaust = async () => {
    const { default: exportsOf } = await load("openhands-glue.js");
    const { memory } = await exportsOf();
    memory.grow(65_536 - memory.buffer.byteLength / 65_536);
  };
  /** A call of a new conversation runs, and once. */
  const worksAgain = async (t, server, mock) => {
    await mock.ask("PUT", "/mock/scripts/again", { steps: [calling("add", { a: 1, b: 2 }), done] });
    let runs = 0;
    const tools = [add(() => ({ runs: ++runs }))];
    const next = await server.start({ workspace: "/workspace/project", agent: agent("again"), tools, stuck_detection: false });
    t.after(() => next.close());
    const calls = record(next, "call");
    await play(next);
    assert.deepEqual(calls.at(-1).outcome, { kind: "ok", result: { runs: 1 } });
  };

  testInside("without memory the core is lost, everything that waits is told so, and the next conversation has a new one", async (t) => {
    t.mock.method(console, "error", () => {});
    const { conversation, server, mock } = await setUp(t, [{ hold: "memory", finish: "done" }], []);
    const other = await server.start({ workspace: "/workspace/project", agent: agent("play") });
    await conversation.send("go");
    const waiting = rejection(conversation.idle());
    await exhaust();
    const error = await rejection(conversation.send("x".repeat(300_000_000)));
    assert.equal(error.code, "internal_panic");
    assert.ok(error.cause instanceof WebAssembly.RuntimeError);
    assert.equal(await waiting, error);
    assert.equal((await rejection(other.send("x"))).code, "internal_panic");
    assert.equal(console.error.mock.callCount(), 1);
    await worksAgain(t, server, mock);
  });

  test("at the end of the stack nothing is left half done, and the next conversation works", async (t) => {
    const again = [calling("count", {}), done];
    const mock = await mockServer(t, { play: [{ hold: "stack", finish: "done" }], again });
    const program = fileURLToPath(new URL("out-of-stack.mjs", import.meta.url));
    const run = await promisify(execFile)(process.execPath, [...process.execArgv.filter((flag) => flag.includes("websocket")), program, mock.url]);
    const said = JSON.parse(run.stdout);
    assert.deepEqual(said, { idle: "internal_panic", inside: true, codes: ["internal_panic"], told: 1, status: "finished", runs: 1 });
  });
}
