// Calls that wait for a person, and tools that run without waiting for the server's word.
import assert from "node:assert/strict";
import { call, calls, finish, object, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const ASKS = { confirmation_policy: { kind: "AlwaysConfirm" } };
const PATH = object({ path: { type: "string" } });
const describe = (name, more) => ({ name, description: `Does ${name}.`, inputSchema: PATH, handler: "echo", ...more });

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("a call that needs approval waits, and is rejected without a run", async ({ server, lab }) => {
    const remove = unique("remove");
    const talk = await lab.start(server, {
      ...ASKS,
      tools: [describe(remove)],
      steps: [call(remove, { path: "a" }), call(remove, { path: "b" }), finish("ok")],
    });
    assert.deepEqual(await talk.turn(), { status: "waiting_for_confirmation" });
    const { openCalls, status } = await talk.state();
    assert.equal(status, "waiting_for_confirmation");
    assert.deepEqual(openCalls.map(({ state, arguments: args }) => [state, args]), [["waiting", { path: "a" }]]);
    assert.deepEqual(await talk.runs(), []);

    await server.decide(talk.id, false, "not that one");
    await talk.until("call", { tool: remove, state: "settled" });
    assert.deepEqual(await talk.outcome(remove), { kind: "rejected", message: "not that one" });
    assert.deepEqual(await talk.states(remove), ["announced", "waiting", "settled"]);
    assert.deepEqual(await talk.runs(), []);

    assert.deepEqual(await talk.turn("try another"), { status: "waiting_for_confirmation" });
    const before = (await talk.tape()).length;
    await server.decide(talk.id, true);
    await talk.until("call", { tool: remove, state: "settled" }, { after: before });
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path), ["b"]);
    assert.equal((await talk.outcomes(remove)).at(-1)?.kind, "ok");
  });

  scenario("a batch waits as a whole, and runs as a whole", async ({ server, lab }) => {
    const [read, remove] = [unique("read"), unique("remove")];
    const talk = await lab.start(server, {
      ...ASKS,
      tools: [describe(read, { annotations: { readOnlyHint: true } }), describe(remove)],
      steps: [calls([read, { path: "a" }], [remove, { path: "b" }]), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "waiting_for_confirmation");
    assert.deepEqual((await talk.state()).openCalls.map(({ state }) => state), ["waiting", "waiting"]);
    await server.decide(talk.id, true);
    await talk.until("status", { status: "finished" });
    await talk.idle();
    assert.equal((await talk.runs(read)).length, 1);
    assert.equal((await talk.runs(remove)).length, 1);
  });

  scenario("a call that waits can be approved from a page that joined later", async ({ server, lab, openPage }) => {
    const remove = unique("remove");
    const first = await lab.start(server, {
      ...ASKS,
      tools: [describe(remove)],
      steps: [call(remove, { path: "a" }), finish("ok")],
    });
    await first.turn();
    await first.close();
    const page = await openPage();
    const talk = await page.attach(server, first.id, { tools: [describe(remove)] });
    assert.equal(talk.opened.status, "waiting_for_confirmation");
    assert.deepEqual(await talk.runs(), []);
    await server.decide(talk.id, true);
    await talk.until("call", { tool: remove, state: "settled" });
    await talk.until("status", { status: "finished" });
    assert.deepEqual((await talk.runs()).map(({ args }) => args), [{ path: "a" }]);
  });

  scenario("a tool that runs on the announcement does not wait for the acknowledgement", async ({ server, lab }) => {
    const show = unique("show");
    const talk = await lab.start(server, {
      tools: [describe(show, { runOn: "announcement" })],
      steps: [call(show, { path: "a" }), finish("ok")],
    });
    if (server.isMock) await server.faults([{ fault: "delay", match: { kind: "ObservationEvent", tool: show }, ms: 3000 }]);
    assert.equal((await talk.turn()).status, "finished");
    assert.equal((await talk.runs()).length, 1);
    const tape = await talk.tape();
    const acknowledged = tape.find(({ value }) => value.observation?.kind === "ClientToolObservation");
    const authorised = tape.find(({ topic, value }) => topic === "call" && value.state === "authorised");
    assert.ok(acknowledged && authorised && authorised.n < acknowledged.n, "let through before the acknowledgement");
    if (server.isMock) assert.ok(tape.find(({ topic }) => topic === "run").n < acknowledged.n, "run before it");
  });

  scenario("running on the announcement is refused where a person may say no", async ({ server, lab }) => {
    const [show, late] = [unique("show"), unique("late")];
    const early = { runOn: "announcement" };
    await assert.rejects(lab.start(server, { ...ASKS, tools: [describe(show, early)] }), {
      code: "announcement_refused",
      retryable: false,
    });
    const talk = await lab.start(server, { ...ASKS, tools: [] });
    await assert.rejects(talk.declare(describe(late, early)), (error) => {
      assert.equal(error.code, "announcement_refused");
      assert.equal(error.details.tool, late);
      return true;
    });
    const joined = lab.attach(server, talk.id, { tools: [describe(unique("show"), early)] });
    await assert.rejects(joined, { code: "announcement_refused" });
  });

  scenario("a policy that changes later stops tools from running on the announcement", async ({ server, lab }) => {
    const show = unique("show");
    const talk = await lab.start(server, {
      tools: [describe(show, { runOn: "announcement" })],
      steps: [call(show, { path: "a" }), finish("ok")],
    });
    await server.rest("POST", `/api/conversations/${talk.id}/confirmation_policy`, { policy: { kind: "AlwaysConfirm" } });
    assert.equal((await talk.turn()).status, "waiting_for_confirmation");
    assert.deepEqual(await talk.runs(), []);
    assert.deepEqual(await talk.states(show), ["announced", "waiting"]);
  });
});
