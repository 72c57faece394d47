// What is odd, hostile or too large ends where it came in: the page, the other conversations and the next call know nothing of it.
import assert from "node:assert/strict";
import { call, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, handler = "echo", more) => ({ name, description: `Does ${name}.`, handler, ...more });

/** An action and its acknowledgement as the server would send them, with arguments that no server would. */
async function raw(server, talk, tool, args, id = crypto.randomUUID()) {
  const ack = crypto.randomUUID();
  const action = `{"kind":"ClientAction_${tool}",${args}}`;
  const events = [
    `{"id":"${id}","kind":"ActionEvent","source":"agent","thought":[],"tool_name":"${tool}","tool_call_id":"${id}","action":${action}}`,
    `{"id":"${ack}","kind":"ObservationEvent","source":"environment","tool_name":"${tool}","tool_call_id":"${id}","action_id":"${id}",` +
      `"observation":{"kind":"ClientToolObservation","content":[],"is_error":false}}`,
  ];
  for (const event of events) {
    await server.frame(talk.id, server.target.version === "1.44.0" ? event : `{"type":"transient","event":${event}}`);
  }
  return talk.until("call", { callId: id, state: "settled" });
}

on(["mock", "legacy"], (scenario) => {
  scenario("case_34_every_kind_of_result_has_an_outcome", async ({ server, lab }) => {
    const give = unique("give");
    const expected = {
      cycle: "result_not_serializable",
      bigint: "result_not_serializable",
      undefined: null,
      date: "1970-01-01T00:00:00.000Z",
      error: {},
      function: "result_not_serializable",
      symbol: "result_not_serializable",
      map: {},
      bytes: { 0: 1, 1: 2 },
      getter: "result_not_serializable",
      toJSON: "result_not_serializable",
      numbers: [null, null, 0],
      proto: JSON.parse('{"__proto__":{"polluted":true}}'),
      surrogate: "\ud800",
      "15 kB": "x".repeat(15_000),
      "1 MB": "x".repeat(1_000_000),
      proxy: "result_not_serializable",
    };
    const kinds = Object.keys(expected);
    const talk = await lab.start(server, {
      tools: [describe(give, "result_of", { inputSchema: object({ what: { type: "string" } }) })],
      steps: [...kinds.map((what) => call(give, { what })), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    const outcomes = await talk.outcomes(give);
    assert.equal(outcomes.length, kinds.length);
    for (const [at, kind] of kinds.entries()) {
      const { kind: end, code, result } = outcomes[at];
      if (expected[kind] === "result_not_serializable") assert.deepEqual([end, code], ["failed", expected[kind]], kind);
      else if (kind === "proto") {
        // Some drivers drop what is called `__proto__` on its way from the page.
        assert.equal(end, "ok");
        assert.ok(["{}", JSON.stringify(expected.proto)].includes(JSON.stringify(result)));
      } else assert.deepEqual([end, JSON.stringify(result)], ["ok", JSON.stringify(expected[kind])], kind);
    }
  });

  scenario("arguments keep what JavaScript would change, or it is told", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, { tools: [describe(open, "echo", { inputSchema: { type: "object" } })], steps: [say("hello")] });
    await talk.turn();
    const big = await raw(server, talk, open, '"id":9007199254740993,"n":[{"__proto__":{"polluted":true}}],"s":"\\ud800","__proto__":{"polluted":1}');
    const [run] = await talk.runs(open);
    assert.equal(await lab.run("argumentsSeen"), '{"id":9007199254740992,"n":[{"__proto__":{"polluted":true}}],"s":"\\ud800","__proto__":{"polluted":1}}');
    assert.equal(big.value.outcome.kind, "ok");
    const { value } = await talk.until("notice", { code: "inexact_number" });
    assert.match(value.message, /^\/id is 9007199254740993,/);
    assert.equal(value.eventId, run.callId);
    assert.equal(await lab.run("argumentsText"), '{"id":9007199254740993,"n":[{"__proto__":{"polluted":true}}],"s":"\\ud800","__proto__":{"polluted":1}}');
    assert.equal(await lab.run("polluted"), null);
  });
});

on(["mock"], (scenario) => {
  scenario("a core without memory is lost with all that waits, others settle what ran in it, and the page goes on", async (scene) => {
    const { server, lab, openPage } = scene;
    const [slow, huge, open] = [unique("slow"), unique("huge"), unique("open")];
    const tools = [describe(slow, { kind: "slow_echo", gate: slow })];
    const first = await lab.start(server, { tools, steps: [call(slow), say("done")] });
    await first.send("go");
    const { callId } = (await first.until("run", { tool: slow })).value;
    const page = await openPage();
    const other = await page.attach(server, first.id, { tools });
    const second = await lab.start(server, {
      tools: [describe(huge, "huge", { inputSchema: object({ size: { type: "integer" } }) })],
      steps: [call(huge, { size: 40_000_000 }), say("done")],
    });
    const ends = [assert.rejects(first.idle(), { code: "internal_panic", pagehands: true })];
    await lab.run("exhaust", "openhands");
    // The result is too large for what is left: a trap in a task that nobody called.
    await second.send("go").catch(({ code }) => assert.equal(code, "internal_panic"));
    ends.push(assert.rejects(second.idle(), { code: "internal_panic", pagehands: true }));
    await Promise.all(ends);
    await first.until("connection", { state: "closed", code: "internal_panic" });
    const { value } = await other.until("call", { callId, state: "settled" });
    assert.equal(value.outcome.kind, "interrupted");
    const told = await lab.run("forgetTroubles");
    assert.ok(told.length > 0 && told.every((trouble) => /unreachable|internal|pagehand/i.test(trouble)), told.join());

    const third = await lab.start(server, { tools: [describe(open)], steps: [call(open), finish("ok")] });
    assert.equal((await third.turn()).status, "finished");
    assert.equal((await third.outcome(open)).kind, "ok");
    const again = await lab.attach(server, first.id, { tools });
    assert.equal((await again.turn()).status, "finished");
    assert.equal((await again.runs()).filter((run) => run.callId === callId).length, 0);
  });

  scenario("what is no record of ours in the ledger is a call that nobody runs again, and costs nobody the ledger", async ({ server, lab, runs }) => {
    const open = unique("open");
    const tools = [describe(open, "echo", { inputSchema: { type: "object" } })];
    const talk = await lab.start(server, { tools, steps: [call(open), finish("ok"), call(open), finish("ok")] });
    assert.equal((await talk.turn()).status, "finished");
    const littered = await lab.run("litter");
    assert.ok(littered.length > 5);
    for (const id of littered.slice(0, -2)) {
      const { value } = await raw(server, talk, open, '"n":1', id);
      assert.equal(value.outcome.kind, "interrupted", id);
    }
    const { value } = await raw(server, talk, open, '"n":1', "of nobody");
    assert.equal(value.outcome.kind, "ok");
    assert.deepEqual((await talk.heard("notice")).filter(({ code }) => code === "storage_unavailable"), []);

    await lab.reload();
    const again = await lab.attach(server, talk.id, { tools });
    for (const id of littered.slice(-2)) {
      const { value } = await raw(server, again, open, '"n":1', id);
      assert.equal(value.outcome.kind, "interrupted", id);
    }
    assert.equal((await again.turn()).status, "finished");
    assert.deepEqual((await again.heard("notice")).filter(({ code }) => code === "storage_unavailable"), []);
    assert.deepEqual(runs.of(open).filter(({ callId }) => littered.includes(callId)), []);
    assert.equal(runs.of(open).length, 3);
  });

  scenario("a later version may take the database: the page lets go of it, says so, and goes on", async ({ server, lab, runs }) => {
    const open = unique("open");
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), finish("ok"), call(open), finish("ok")] });
    assert.equal((await talk.turn()).status, "finished");
    await lab.run("takeDatabase", 2);
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual((await talk.outcomes(open)).map(({ kind }) => kind), ["ok", "ok"]);
    assert.equal((await talk.heard("notice")).filter(({ code }) => code === "storage_unavailable").length, 1);
    assert.equal(runs.of(open).length, 2);
  });
});
