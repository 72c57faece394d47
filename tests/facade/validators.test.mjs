// Validators of the app's own in the place of the schema engine, and reports that show no values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, freshCopy, load, mockServer, rejection, withSockets } from "./help.mjs";

await withSockets(import.meta.url, () => {
  const inputSchema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const outputSchema = { type: "object", required: ["truth"] };
  const tool = { name: "work", description: "Works", inputSchema, execute: ({ a }) => ({ a }) };
  const calling = (args) => ({ tool_calls: [{ name: "work", arguments: args }] });

  /** Where the engine's wasm is missing: what needs it fails. */
  const withoutEngine = async (t) => (await load("index.js", await freshCopy(t, ["schema.wasm"]))).openhands;

  /** The outcomes of calls with these arguments, one after the other. */
  async function outcomes(t, openhands, { approval = () => {}, ...options }, ...calls) {
    const mock = await mockServer(t, { play: [...calls.map(calling), { finish: "done" }] });
    const server = openhands({ url: mock.url, sessionKey: "canary-key" });
    const start = { workspace: "/workspace/project", agent: agent("play"), stuck_detection: false, ...options };
    const conversation = await server.start(start);
    t.after(() => conversation.close());
    const heard = [];
    conversation.on("call", ({ outcome }) => outcome !== undefined && heard.push(outcome));
    conversation.on("approval", approval);
    await conversation.send("go");
    await conversation.idle();
    return heard;
  }

  test("a validator takes the engine's place: it is told the schema, the value, the tool and the part", async (t) => {
    const asked = [];
    const validator = (schema, value, about) => {
      asked.push({ schema, value, about });
    };
    const tools = [{ ...tool, outputSchema }];
    const [first, second] = await outcomes(t, await withoutEngine(t), { tools, validator }, { a: 1 }, { a: 2 });
    assert.deepEqual([first, second], [{ kind: "ok", result: { a: 1 } }, { kind: "ok", result: { a: 2 } }]);
    const about = (part) => ({ tool: "work", part });
    const of = (part) => asked.filter(({ about }) => about.part === part);
    const both = (schema, part) => [1, 2].map((a) => ({ schema, value: { a }, about: about(part) }));
    assert.deepEqual([of("input"), of("output")], [both(inputSchema, "input"), both(outputSchema, "output")]);
    assert.equal(of("input")[0].schema, of("input")[1].schema, "the same schema is the same object");
  });

  test("what a validator finds is a report like the engine's", async (t) => {
    const validator = async () => [
      { message: "too small", path: "/a", keyword: "minimum", expected: 3 },
      { message: "odd", path: ["list", { key: 0 }, "a/b"] },
      { message: "x".repeat(1000) },
    ];
    const [outcome] = await outcomes(t, await withoutEngine(t), { tools: [tool], validator }, { a: 1 });
    assert.deepEqual(outcome, {
      kind: "invalid_arguments",
      issues: [
        { path: "/a", keyword: "minimum", expected: 3, message: "too small" },
        { path: "/list/0/a~1b", keyword: "validator", expected: null, message: "odd" },
        { path: "", keyword: "validator", expected: null, message: "x".repeat(300) },
      ],
    });
  });

  for (const [what, validator] of [
    ["throws", () => { throw new TypeError("no idea"); }],
    ["rejects", () => Promise.reject(new TypeError("no idea"))],
    ["gives no list", () => "no idea"],
    ["gives a list of nothing", () => [undefined, "no idea"]],
  ]) {
    test(`a validator that ${what} ends the call, and the next one goes on`, async (t) => {
      let asked = 0;
      const once = (...given) => (asked++ === 0 ? validator(...given) : []);
      const [first, second] = await outcomes(t, await withoutEngine(t), { tools: [tool], validator: once }, { a: 1 }, { a: 2 });
      assert.deepEqual([first.kind, first.code], ["failed", "validator_threw"]);
      assert.equal(second.kind, "ok");
    });
  }

  test("a validator that never answers ends the call in the tool's time, and the next one goes on", async (t) => {
    let asked = 0;
    const once = () => (asked++ === 0 ? new Promise(() => {}) : []);
    const hasty = { ...tool, timeout: 200 };
    const [first, second] = await outcomes(t, await withoutEngine(t), { tools: [hasty], validator: once }, { a: 1 }, { a: 2 });
    const message = "the arguments were not checked within 200 ms";
    assert.deepEqual(first, { kind: "failed", code: "check_timed_out", name: "", message });
    assert.equal(second.kind, "ok");
  });

  test("a validator that never answers about an edit costs the edit and not the question", async (t) => {
    let asked = 0;
    let refused;
    const validator = () => (asked++ === 1 ? new Promise(() => {}) : []);
    const approval = async ({ approve }) => {
      refused = await rejection(approve({ arguments: { a: 2 } }));
      await approve({ arguments: { a: 3 } });
    };
    const hasty = { ...tool, timeout: 200, confirm: true };
    const [outcome] = await outcomes(t, await withoutEngine(t), { tools: [hasty], validator, approval }, { a: 1 });
    const details = { field: "arguments", message: "were not checked within the tool's timeout" };
    assert.deepEqual([refused.code, refused.details], ["invalid_argument", details]);
    assert.deepEqual(outcome, { kind: "ok", result: { a: 3 } });
  });

  test("a validator is a function", async (t) => {
    const openhands = await withoutEngine(t);
    const server = openhands({ url: "http://127.0.0.1:9" });
    await assert.rejects(server.attach("00000000-0000-4000-8000-000000000000", { validator: {} }), {
      code: "invalid_argument",
      details: { field: "validator", message: "must be a function" },
    });
  });

  test("masked reports show no value, whoever made them", async (t) => {
    const { openhands, tool: made } = await load("index.js");
    // What a server does not check.
    const inputSchema = { type: "object", properties: { a: { enum: ["x"] } } };
    const ended = async (options) => {
      const [outcome] = await outcomes(t, openhands, { tools: [{ ...tool, inputSchema }], ...options }, { a: "secret-4711" });
      return outcome;
    };
    assert.match((await ended({})).issues[0].message, /secret-4711/);
    const masked = await ended({ maskValues: true });
    assert.deepEqual(masked.issues, [
      { path: "/a", keyword: "enum", expected: ["x"], message: 'must be one of "x"; what was given is not' },
    ]);
    const own = { path: "/a", keyword: "validator", expected: null, message: "does not fit" };
    const validator = (schema, { a }) => [{ message: `${a} is wrong`, path: ["a"], expected: a }];
    assert.deepEqual((await ended({ maskValues: true, validator })).issues, [own]);
    const thrown = await ended({ maskValues: true, validator: (schema, { a }) => assert.fail(a) });
    assert.equal(thrown.code, "validator_threw");
    assert.doesNotMatch(JSON.stringify(thrown), /4711/);
    const refusing = (value) => ({ issues: [{ message: `${value.a} is wrong`, path: ["a"] }] });
    const schema = { "~standard": { version: 1, vendor: "own", validate: refusing } };
    const tools = [made({ ...tool, inputSchema: { schema, jsonSchema: inputSchema } })];
    assert.deepEqual((await ended({ maskValues: true, tools })).issues, [own]);
  });

  test("tools with the same JSON Schema keep their own validators, and one that is declared anew has its new one", async (t) => {
    const openhands = await withoutEngine(t);
    const declared = (name, version) => {
      const schema = { "~standard": { version: 1, vendor: "own", validate: () => ({ issues: [{ message: `${name} ${version}` }] }) } };
      return { ...tool, name, inputSchema: { schema, jsonSchema: inputSchema } };
    };
    const calls = ["work", "rest", "work"].map((name) => ({ tool_calls: [{ name, arguments: { a: 1 } }] }));
    const mock = await mockServer(t, { play: [calls[0], calls[1], { finish: "done" }, calls[2], { finish: "done" }] });
    const conversation = await openhands({ url: mock.url, sessionKey: "canary-key" }).start({
      workspace: "/w",
      agent: agent("play"),
      stuck_detection: false,
      validator: () => assert.fail("a tool's own goes before it"),
      tools: [declared("work", 1), declared("rest", 1)],
    });
    t.after(() => conversation.close());
    const told = [];
    conversation.on("call", ({ outcome }) => outcome !== undefined && told.push(outcome.issues[0].message));
    for (const text of ["go", "go on"]) {
      await conversation.send(text);
      await conversation.idle();
      await conversation.declare(declared("work", 2));
    }
    assert.deepEqual(told, ["work 1", "rest 1", "work 2"]);
  });
});
