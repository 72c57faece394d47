// From the agent's call to its outcome.
import assert from "node:assert/strict";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const PATH = object({ path: { type: "string" } }, { required: ["path"] });
const describe = (name, handler, more) => ({ name, description: `Does ${name}.`, inputSchema: PATH, handler, ...more });

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("a turn with two tools runs each once, in order, and ends as finished", async ({ server, lab }) => {
    const [open, mark] = [unique("open"), unique("mark")];
    const talk = await lab.start(server, {
      tools: [describe(open, "echo"), describe(mark, "echo")],
      steps: [call(open, { path: "a.md" }), call(mark, { path: "b.md" }), say("Both are done.")],
    });
    assert.equal(talk.created, true);
    assert.match(talk.id, /^[0-9a-f-]{36}$/);
    assert.deepEqual(talk.opened.tools.ready.toSorted(), [mark, open].toSorted());

    assert.deepEqual(await talk.turn("Open a.md, mark b.md."), { status: "finished" });

    const runs = await talk.runs();
    assert.deepEqual(runs.map(({ tool, args }) => [tool, args]), [[open, { path: "a.md" }], [mark, { path: "b.md" }]]);
    assert.deepEqual(await talk.outcome(open), { kind: "ok", result: { echo: { path: "a.md" } } });
    assert.deepEqual(await talk.states(mark), ["announced", "authorised", "validating", "claiming", "running", "settled"]);
    const steps = (await talk.heard("call")).filter((step) => step.tool === open);
    for (const step of steps) {
      assert.deepEqual(step.arguments, { path: "a.md" }, `the arguments at ${step.state}`);
      assert.equal(step.callId, runs[0]?.callId);
    }
    assert.deepEqual((await talk.state()).openCalls, []);
  });

  scenario("messages and the status arrive as they happen", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("Good morning.")] });
    await talk.turn("Hello?");
    const messages = await talk.heard("message");
    assert.deepEqual(
      messages.map(({ role, source, text }) => [role, source, text]),
      [["user", "user", "Hello?"], ["assistant", "agent", "Good morning."]],
    );
    assert.equal(new Set(messages.map(({ id }) => id)).size, 2);
    assert.deepEqual((await talk.heard("status")).map(({ status }) => status), ["running", "finished"]);
    assert.equal((await talk.state()).status, "finished");
    assert.ok((await talk.heard("connection")).some(({ state }) => state === "ready"));
  });

  scenario("calls in one answer of the model run once each", async ({ server, lab }) => {
    const [open, mark] = [unique("open"), unique("mark")];
    const talk = await lab.start(server, {
      tools: [describe(open, "echo"), describe(mark, "echo")],
      steps: [calls([open, { path: "1" }], [mark, { path: "2" }], [open, { path: "3" }], [open, { path: "3" }]), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual((await talk.runs(open)).map(({ args }) => args.path).toSorted(), ["1", "3", "3"]);
    assert.equal((await talk.runs(mark)).length, 1);
    assert.deepEqual((await talk.outcomes(open)).map(({ kind }) => kind), ["ok", "ok", "ok"]);
  });

  scenario("several turns in one conversation", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, {
      tools: [describe(open, "echo")],
      steps: [call(open, { path: "1" }), finish("one"), call(open, { path: "2" }), finish("two")],
    });
    for (const turn of ["1", "2"]) {
      assert.equal((await talk.turn(`turn ${turn}`)).status, "finished");
      assert.deepEqual((await talk.runs(open)).map(({ args }) => args.path).at(-1), turn);
    }
    assert.deepEqual(await talk.idle(), { status: "finished" }, "idle() with nothing to wait for");
  });

  scenario("a call without a handler ends as missing_handler and names what is there", async ({ server, lab }) => {
    const [mute, open] = [unique("mute"), unique("open")];
    const talk = await lab.start(server, {
      tools: [describe(mute), describe(open, "echo")],
      steps: [call(mute, { path: "x" }), call(open, { path: "y" }), finish("ok")],
    });
    assert.deepEqual(talk.opened.tools.missingHandlers, [mute]);
    await talk.turn();
    assert.deepEqual(await talk.outcome(mute), { kind: "missing_handler", tool: mute, registered: [open] });
    assert.equal((await talk.outcome(open)).kind, "ok");
  });

  scenario("a handler that throws fails its call and no other", async ({ server, lab }) => {
    const names = ["throws", "rejects", "throws_text", "throws_nothing"].map((kind) => [kind, unique(kind)]);
    const again = unique("again");
    const talk = await lab.start(server, {
      tools: [...names.map(([kind, name]) => describe(name, kind)), describe(again, "throws_once")],
      steps: [
        ...names.map(([, name]) => call(name, { path: "x" })),
        call(again, { path: "1" }),
        call(again, { path: "2" }),
        finish("ok"),
      ],
    });
    assert.equal((await talk.turn()).status, "finished");
    const outcomes = [];
    for (const [, name] of names) outcomes.push(await talk.outcome(name));
    const failed = { kind: "failed", code: "handler_threw" };
    assert.deepEqual(outcomes, [
      { ...failed, name: "TypeError", message: "no luck" },
      { ...failed, name: "RangeError", message: "later no luck" },
      { ...failed, name: "", message: "just words" },
      { ...failed, name: "", message: "undefined" },
    ]);
    assert.deepEqual((await talk.outcomes(again)).map(({ kind }) => kind), ["failed", "ok"]);
    const settled = (await talk.heard("call")).filter((step) => step.state === "settled");
    const thrown = names.map(([, name]) => settled.find((step) => step.tool === name)?.thrown);
    assert.deepEqual(thrown.map(({ type, isError, message }) => [type, isError, message]), [
      ["object", true, "no luck"],
      ["object", true, "later no luck"],
      ["string", undefined, "just words"],
      ["undefined", undefined, "undefined"],
    ]);
  });

  scenario("a handler that takes too long is timed out, and its signal aborts", async ({ server, lab }) => {
    const [slow, open] = [unique("slow"), unique("open")];
    const talk = await lab.start(server, {
      tools: [describe(slow, "never", { timeout: 200 }), describe(open, "echo")],
      steps: [call(slow, { path: "x" }), call(open, { path: "y" }), finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual(await talk.outcome(slow), { kind: "timed_out", timeout: 200 });
    assert.deepEqual((await talk.heard("abort")).map(({ name }) => name), ["TimeoutError"]);
    assert.equal((await talk.outcome(open)).kind, "ok");
  });

  scenario("cancel() ends a running call with the app's words", async ({ server, lab }) => {
    const slow = unique("slow");
    const talk = await lab.start(server, { tools: [describe(slow, "never")], steps: [call(slow, { path: "x" }), finish("ok")] });
    await talk.send("go");
    const { callId } = (await talk.until("run", { tool: slow })).value;
    assert.deepEqual((await talk.state()).openCalls.map((open) => [open.callId, open.state]), [[callId, "running"]]);
    await talk.cancel(callId, "changed my mind");
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await talk.outcome(slow), { kind: "cancelled", message: "changed my mind" });
    assert.deepEqual((await talk.heard("abort")).map(({ name }) => name), ["AbortError"]);
    await assert.rejects(talk.cancel(callId), { code: "unknown_call", pagehands: true, details: { callId } });
    await assert.rejects(talk.cancel("no such call"), { code: "unknown_call" });
  });

  scenario("idle() waits for handlers that outlast the agent's turn", async ({ server, lab }) => {
    const slow = unique("slow");
    const talk = await lab.start(server, {
      tools: [describe(slow, { kind: "slow_echo", gate: slow })],
      steps: [call(slow, { path: "x" }), finish("ok")],
    });
    await talk.send("go");
    await talk.until("status", { status: "finished" });
    assert.deepEqual(await talk.outcomes(slow), []);
    const idle = talk.idle();
    await lab.openGate(slow);
    assert.deepEqual(await idle, { status: "finished" });
    assert.equal((await talk.outcome(slow)).kind, "ok");
  });

  scenario("a run that fails ends the turn with its error", async ({ server, lab }) => {
    // Not a failure of the model's server, which 1.43 would ask once more.
    const talk = await lab.start(server, { steps: [{ error: 401 }, say("Better now.")] });
    const { status, error } = await talk.turn();
    assert.equal(status, "error");
    assert.equal(error.code, "LLMAuthenticationError");
    assert.equal((await talk.heard("error"))[0]?.code, "conversation_failed");
    await talk.run();
    assert.deepEqual(await talk.idle(), { status: "finished" });
  });
});
