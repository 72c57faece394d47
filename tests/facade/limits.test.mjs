// Arguments and results of every kind and size.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, rejection, withSockets } from "./help.mjs";
import { add, calling, done, play, record, setUp } from "./play.mjs";

await withSockets(import.meta.url, limits);

async function limits() {
  const { dispatcher, tool } = await load("index.js");

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
}
