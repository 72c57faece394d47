// What reaches a handler, and what is taken from it: the server checks little of a schema, pagehand all of it.
import assert from "node:assert/strict";
import { call, finish, object, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, properties, more) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: object(properties, more),
  handler: "echo",
});

/** Schemas whose violation a server lets through: a wrong value, a right one, and what is wrong. */
const VIOLATIONS = [
  {
    what: "a lower bound",
    schema: { n: { type: "integer", minimum: 1 } },
    wrong: { n: 0 },
    right: { n: 1 },
    issue: { path: "/n", keyword: "minimum", expected: 1 },
  },
  {
    what: "an upper bound",
    schema: { n: { type: "number", maximum: 1.5 } },
    wrong: { n: 1.75 },
    right: { n: 1.5 },
    issue: { path: "/n", keyword: "maximum", expected: 1.5 },
  },
  {
    what: "a pattern",
    schema: { id: { type: "string", pattern: "^T-\\d+$" } },
    wrong: { id: "T-x" },
    right: { id: "T-7" },
    issue: { path: "/id", keyword: "pattern", expected: "^T-\\d+$" },
  },
  {
    what: "a length",
    schema: { text: { type: "string", maxLength: 3 } },
    wrong: { text: "four" },
    right: { text: "🎉🎉🎉" },
    issue: { path: "/text", keyword: "maxLength", expected: 3 },
  },
  {
    what: "a nested object",
    schema: { at: object({ x: { type: "number" }, y: { type: "number" } }, { required: ["x", "y"] }) },
    wrong: { at: { x: 1 } },
    right: { at: { x: 1, y: 2 } },
    issue: { path: "/at", keyword: "required" },
  },
  {
    what: "items of a list of objects",
    schema: { rows: { type: "array", items: object({ "a/b": { enum: [1, 2] } }) } },
    wrong: { rows: [{ "a/b": 1 }, { "a/b": 3 }] },
    right: { rows: [{ "a/b": 2 }] },
    issue: { path: "/rows/1/a~1b", keyword: "enum", expected: [1, 2] },
  },
  {
    what: "a referenced definition",
    schema: { level: { $ref: "#/$defs/level" } },
    more: { $defs: { level: { enum: ["low", "high"] } } },
    wrong: { level: "middle" },
    right: { level: "low" },
    issue: { path: "/level", keyword: "enum", expected: ["low", "high"] },
  },
  {
    what: "a choice",
    schema: { to: { oneOf: [{ const: "all" }, object({ id: { type: "integer" } }, { required: ["id"] })] } },
    wrong: { to: { id: "7" } },
    right: { to: { id: 7 } },
    issue: { path: "/to", keyword: "oneOf" },
  },
];

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("an enum violation that the server lets through never reaches the handler", async ({ server, lab }) => {
    const toast = unique("toast");
    const level = { type: "string", enum: ["info", "warn"] };
    const talk = await lab.start(server, {
      tools: [describe(toast, { level }, { required: ["level"] })],
      steps: [call(toast, { level: "shout" }), call(toast, { level: "warn" }), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    const [wrong, right] = await talk.outcomes(toast);
    assert.equal(wrong.kind, "invalid_arguments");
    assert.equal(wrong.issues.length, 1);
    const [{ message, ...issue }] = wrong.issues;
    assert.deepEqual(issue, { path: "/level", keyword: "enum", expected: ["info", "warn"] });
    assert.match(message, /shout/);
    assert.deepEqual(right, { kind: "ok", result: { echo: { level: "warn" } } });
    assert.deepEqual((await talk.runs()).map(({ args }) => args), [{ level: "warn" }]);
    const [first] = await talk.heard("call");
    assert.deepEqual(await talk.states(toast, first.callId), ["announced", "authorised", "validating", "settled"]);
  });

  scenario("every other part of a schema is checked too", async ({ server, lab }) => {
    const cases = VIOLATIONS.map((violation) => ({ ...violation, name: unique("check") }));
    const talk = await lab.start(server, {
      tools: cases.map(({ name, schema, more }) => describe(name, schema, more)),
      steps: [...cases.flatMap(({ name, wrong, right }) => [call(name, wrong), call(name, right)]), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    for (const { what, name, right, issue } of cases) {
      const [first, second] = await talk.outcomes(name);
      assert.equal(first?.kind, "invalid_arguments", what);
      const found = first.issues.find(({ path, keyword }) => path === issue.path && keyword === issue.keyword);
      assert.ok(found, `${what}: ${JSON.stringify(first.issues)}`);
      if ("expected" in issue) assert.deepEqual(found.expected, issue.expected, what);
      assert.deepEqual(second, { kind: "ok", result: { echo: right } }, what);
      assert.deepEqual((await talk.runs(name)).map(({ args }) => args), [right], what);
    }
  });

  scenario("all violations of a call are told at once", async ({ server, lab }) => {
    const many = unique("many");
    const talk = await lab.start(server, {
      tools: [describe(many, { a: { enum: [1] }, b: { type: "integer", minimum: 5 }, c: { type: "string", pattern: "^x" } })],
      steps: [call(many, { a: 2, b: 4, c: "y" }), finish("ok")],
    });
    await talk.turn();
    const { issues } = await talk.outcome(many);
    assert.deepEqual(issues.map(({ path }) => path).toSorted(), ["/a", "/b", "/c"]);
  });

  scenario("a call that the server itself finds invalid never runs, and the turn goes on", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, {
      tools: [describe(open, { path: { type: "string" } }, { required: ["path"] })],
      steps: [
        call(open, {}),
        call(open, { path: "a", more: 1 }),
        call(open, '{"path": '),
        call(unique("unknown"), {}),
        call(open, { path: "b" }),
        finish("ok"),
      ],
    });
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ args }) => args), [{ path: "b" }]);
    assert.equal((await talk.outcome(open)).kind, "ok");
    const errors = (await talk.heard("event")).filter(({ kind }) => kind === "AgentErrorEvent");
    assert.equal(errors.length, 4);
  });

  scenario("arguments arrive as the model gave them", async ({ server, lab }) => {
    const take = unique("take");
    const given = {
      text: 'line\nbreak "quoted" \u2028 🎉 é',
      number: 1.5,
      integer: 7,
      flag: false,
      list: ["a", "b"],
      map: { deep: { er: [null, { x: 0 }] }, empty: {}, list: [] },
      summary: "my own",
    };
    const talk = await lab.start(server, {
      tools: [
        describe(take, {
          text: { type: "string" },
          number: { type: "number" },
          integer: { type: "integer" },
          flag: { type: "boolean" },
          list: { type: "array", items: { type: "string" } },
          map: { type: "object" },
          summary: { type: "string" },
          absent: { type: "string" },
        }),
      ],
      steps: [call(take, given), call(take, { ...given, absent: null }), finish("ok")],
    });
    await talk.turn();
    const [first, second] = await talk.runs();
    assert.deepEqual(first?.args, given);
    assert.deepEqual(second?.args, given, "the server drops what is null at the top");
  });

  scenario("a tool without parameters runs with none", async ({ server, lab }) => {
    const refresh = unique("refresh");
    const talk = await lab.start(server, {
      tools: [{ name: refresh, description: "Refreshes.", handler: "echo" }],
      steps: [call(refresh), finish("ok")],
    });
    await talk.turn();
    assert.deepEqual((await talk.runs()).map(({ args }) => args), [{}]);
  });

  scenario("a result is checked as well", async ({ server, lab }) => {
    const [count, right, big, nothing] = ["count", "right", "big", "nothing"].map(unique);
    const outputSchema = object({ count: { type: "integer" } }, { required: ["count"] });
    const plain = (name, handler, more) => ({ name, description: name, handler, ...more });
    const talk = await lab.start(server, {
      tools: [
        plain(count, "wrong_result", { outputSchema }),
        plain(right, "echo", { outputSchema: object({ echo: { type: "object" } }) }),
        plain(big, "function_result"),
        plain(nothing, "nothing"),
      ],
      steps: [call(count), call(right), call(big), call(nothing), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    const { kind, issues } = await talk.outcome(count);
    assert.equal(kind, "invalid_output");
    assert.deepEqual(issues.map(({ path, keyword }) => [path, keyword]), [["/count", "type"]]);
    assert.equal((await talk.outcome(right)).kind, "ok");
    const { code } = await talk.outcome(big);
    assert.equal(code, "result_not_serializable");
    assert.deepEqual(await talk.outcome(nothing), { kind: "ok", result: null });
  });
});
