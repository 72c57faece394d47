// What handlers may do to their conversation, and several conversations beside each other.
import assert from "node:assert/strict";
import { call, finish, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, handler = "echo", more) => ({ name, description: `Does ${name}.`, handler, ...more });

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("two conversations on one page do not disturb each other", async ({ server, lab }) => {
    const [tool, holdA, holdB] = [unique("shared"), unique("hold"), unique("hold")];
    const steps = (hold, word) => [call(tool, {}), call(tool, {}, { hold }), say(word)];
    const [a, b] = await Promise.all([
      lab.start(server, { tools: [describe(tool)], steps: steps(holdA, "A") }),
      lab.start(server, { tools: [describe(tool)], steps: steps(holdB, "B") }),
    ]);
    assert.notEqual(a.id, b.id);
    await Promise.all([a.send("to A"), b.send("to B")]);
    await Promise.all([a, b].map((talk) => talk.until("call", { tool, state: "settled" })));
    await server.release(holdB);
    assert.equal((await b.idle()).status, "finished");
    assert.equal((await a.state()).status, "running");
    await b.close();
    await server.release(holdA);
    assert.equal((await a.idle()).status, "finished");
    for (const [talk, word] of [[a, "A"], [b, "B"]]) {
      assert.equal((await talk.runs()).length, 2);
      assert.deepEqual((await talk.heard("message")).map(({ text }) => text), [`to ${word}`, word]);
    }
  });

  scenario("close() aborts what runs, ends what waits, and refuses what follows", async ({ server, lab }) => {
    const slow = unique("slow");
    const talk = await lab.start(server, { tools: [describe(slow, "never")], steps: [call(slow), finish("ok")] });
    await talk.send("go");
    const { callId } = (await talk.until("run", { tool: slow })).value;
    const idle = assert.rejects(talk.idle(), { code: "closed", pagehands: true, retryable: false });
    await talk.close();
    await idle;
    assert.deepEqual((await talk.heard("abort")).map((abort) => [abort.callId, abort.name]), [[callId, "AbortError"]]);
    assert.equal((await talk.outcome(slow)).kind, "cancelled");
    assert.equal((await talk.heard("connection")).at(-1).state, "closed");
    assert.deepEqual((await talk.state()).openCalls, []);
    for (const refused of [
      talk.send("more"),
      talk.run(),
      talk.idle(),
      talk.history(),
      talk.cancel(callId),
      talk.declare(describe(unique("late"))),
    ]) {
      await assert.rejects(refused, { code: "closed" });
    }
    await talk.close();
  });

  scenario("a handler that ends after close() changes nothing", async ({ server, lab }) => {
    const slow = unique("slow");
    const talk = await lab.start(server, {
      tools: [describe(slow, { kind: "slow_echo", gate: slow })],
      steps: [call(slow), finish("ok")],
    });
    await talk.send("go");
    await talk.until("run", { tool: slow });
    await talk.close();
    const before = await talk.tape();
    await lab.openGate(slow);
    await talk.until("ran", { tool: slow });
    const after = (await talk.tape()).slice(before.length).filter(({ topic }) => topic !== "ran");
    assert.deepEqual(after, []);
  });

  scenario("a handler may send a message", async ({ server, lab }) => {
    const [sender, hold] = [unique("sender"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(sender, "sends")],
      steps: [call(sender), say("I heard you", { hold })],
    });
    await talk.send("go");
    await talk.until("call", { tool: sender, state: "settled" });
    await talk.until("message", { text: "said by a handler" });
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await talk.outcome(sender), { kind: "ok", result: "sent" });
    assert.equal((await talk.heard("message")).filter(({ text }) => text === "said by a handler").length, 1);
  });

  scenario("a handler may give another tool its handler", async ({ server, lab }) => {
    const [declarer, later, hold] = [unique("declarer"), unique("later"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(declarer, { kind: "declares", declares: describe(later) }), { name: later, description: `Does ${later}.` }],
      // The agent does not wait for handlers.
      steps: [call(later), call(declarer), call(later, {}, { hold }), finish("ok")],
    });
    await talk.send("go");
    await talk.until("call", { tool: declarer, state: "settled" });
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.outcomes(later)).map(({ kind }) => kind), ["missing_handler", "ok"]);
    assert.deepEqual((await talk.state()).tools.ready.toSorted(), [declarer, later].toSorted());
  });

  scenario("a handler may close its conversation", async ({ server, lab }) => {
    const [closer, again] = [unique("closer"), unique("again")];
    const talk = await lab.start(server, { tools: [describe(closer, "closes"), describe(again)], steps: [call(closer), call(again)] });
    // The handler may be faster than the answer to the message.
    const sent = talk.send("go").catch(({ code }) => assert.equal(code, "closed"));
    await talk.until("ran", { tool: closer });
    await sent;
    assert.equal((await talk.outcome(closer)).kind, "cancelled");
    await assert.rejects(talk.idle(), { code: "closed" });
    const other = await lab.start(server, { tools: [describe(again)], steps: [call(again), finish("ok")] });
    assert.equal((await other.turn()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ tool }) => tool), [closer]);
  });

  scenario("a handler may cancel its own call", async ({ server, lab }) => {
    const self = unique("self");
    const talk = await lab.start(server, { tools: [describe(self, "cancels_itself")], steps: [call(self), finish("ok")] });
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual(await talk.outcome(self), { kind: "cancelled", message: "thought better of it" });
    const { value } = await talk.until("notice", { code: "late_signal" });
    assert.equal(value.eventId, (await talk.runs())[0]?.callId);
  });

  for (const topic of ["event", "call", "status", "message"]) {
    scenario(`a listener of "${topic}" may close the conversation in the middle of an event`, async ({ server, lab }) => {
      const open = unique("open");
      const tools = [describe(open)];
      const talk = await lab.start(server, { tools, steps: [call(open), finish("ok")] });
      const other = await lab.start(server, { tools, steps: [call(open), finish("ok")] });
      await lab.run("onNext", "talk-1", topic, "close");
      const sent = talk.send("go").catch(({ code }) => assert.equal(code, "closed"));
      await talk.until("connection", { state: "closed" });
      await sent;
      assert.deepEqual(await lab.run("inside", "talk-1"), { value: null });
      await assert.rejects(talk.idle(), { code: "closed" });
      assert.equal((await other.turn()).status, "finished", "the other conversation");
    });

    scenario(`a listener of "${topic}" may send a message in the middle of an event`, async ({ server, lab }) => {
      const [open, hold] = [unique("open"), unique("hold")];
      const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), say("ok", { hold })] });
      await lab.run("onNext", "talk-1", topic, "send");
      await talk.send("go");
      await talk.until("message", { text: "said by a listener" });
      assert.deepEqual(await lab.run("inside", "talk-1"), { value: null });
      await server.release(hold);
      assert.equal((await talk.idle()).status, "finished");
      assert.equal((await talk.runs()).length, 1);
    });
  }

  scenario("listeners that throw stop nothing", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), finish("ok")] });
    await lab.run("throwOn", "talk-1", "call");
    assert.equal((await talk.turn()).status, "finished");
    assert.equal((await talk.outcome(open)).kind, "ok");
    const thrown = await lab.run("forgetTroubles");
    assert.ok(thrown.length > 0 && thrown.every((trouble) => trouble.includes("a listener's own")), String(thrown));
  });

  scenario("the conversation can be read as one stream of events", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), say("done")] });
    const reading = lab.run("readStream", "talk-1");
    await talk.turn();
    await talk.close();
    const read = await reading;
    assert.deepEqual(read.filter((type) => type === "message"), ["message", "message"]);
    assert.ok(["call", "status", "event", "connection"].every((type) => read.includes(type)), String(read));
  });
});
