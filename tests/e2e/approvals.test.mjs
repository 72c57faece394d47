// A person answers in the page: once, whichever tab it is, and nothing else passes for an answer.
import assert from "node:assert/strict";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const ASKS = { confirmation_policy: { kind: "AlwaysConfirm" } };
const PATH = object({ path: { type: "string" } });
const describe = (name, more) => ({ name, description: `Does ${name}.`, inputSchema: PATH, handler: "echo", ...more });

/** A conversation in which a call waits. @param {import("./support/suite.mjs").Scene} scene */
async function waiting({ server, lab }, more = {}) {
  const remove = unique("remove");
  const talk = await lab.start(server, {
    ...ASKS,
    tools: [describe(remove)],
    steps: [call(remove, { path: "a" }), finish("ok")],
    ...more,
  });
  assert.equal((await talk.turn()).status, "waiting_for_confirmation");
  return { talk, remove, question: (await talk.until("approval")).value };
}

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("a yes from the page lets the call run", async (scene) => {
    const { talk, remove, question } = await waiting(scene);
    assert.equal(question.calls.length, 1);
    const [{ tool, arguments: args, summary, risk, client }] = question.calls;
    assert.deepEqual([tool, args, typeof summary, risk, client], [remove, { path: "a" }, "string", "UNKNOWN", true]);
    await talk.approve();
    assert.equal((await talk.idle()).status, "finished");
    assert.equal((await talk.runs()).length, 1);
    assert.equal((await talk.outcome(remove)).kind, "ok");
    assert.equal((await talk.state()).approval, null);
  });

  scenario("a no ends the call, and what follows it is said", async (scene) => {
    const remove = unique("remove");
    const { talk } = await waiting(scene, {
      tools: [describe(remove)],
      steps: [call(remove, { path: "a" }), say("as you wish")],
    });
    await talk.reject("not that one", "do nothing instead");
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual(await talk.outcome(remove), { kind: "rejected", message: "not that one" });
    const texts = (await talk.heard("message")).map(({ text }) => text);
    assert.deepEqual(texts.slice(-2), ["do nothing instead", "as you wish"]);
    assert.deepEqual(await talk.runs(), []);
  });

  scenario("running is refused while calls wait, and said so", async (scene) => {
    const { talk } = await waiting(scene);
    await assert.rejects(talk.send("hello?"), { code: "approval_pending" });
    await assert.rejects(talk.run(), { code: "approval_pending" });
    await talk.send("a word for later", { run: false });
    assert.equal((await talk.state()).status, "waiting_for_confirmation");
    assert.deepEqual(await talk.runs(), []);
    await talk.send("I mean it", { approvePending: true });
    await talk.idle();
    assert.equal((await talk.runs()).length, 1);
  });

  scenario("of two answers one leaves", async (scene) => {
    const { talk } = await waiting(scene);
    const answers = await Promise.allSettled([talk.approve(), talk.approve()]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal(answers.find(({ status }) => status === "rejected").reason.code, "approval_answered");
    assert.equal((await talk.idle()).status, "finished");
    assert.equal((await talk.runs()).length, 1);
  });

  scenario("of two tabs one answers, and the other is told", async (scene) => {
    const { talk, remove } = await waiting(scene);
    const other = await scene.openPage();
    const twin = await other.attach(scene.server, talk.id, { tools: [describe(remove)] });
    await twin.until("approval");
    const answers = await Promise.allSettled([talk.approve(), twin.reject("no")]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assert.equal(answers.find(({ status }) => status === "rejected").reason.code, "approval_answered");
    await talk.idle();
    await twin.until("moot");
    const ran = (await talk.runs()).length + (await twin.runs()).length;
    assert.equal(ran, answers[0].status === "fulfilled" ? 1 : 0);
  });

  scenario("case 23: after a reload what waits is asked again, and what was answered is not", async (scene) => {
    const { lab, server } = scene;
    const { talk, remove, question } = await waiting(scene);
    await lab.reload();
    const again = await lab.attach(server, talk.id, { tools: [describe(remove)] });
    assert.equal((await again.until("approval")).value.id, question.id);
    await again.approve();
    await again.idle();
    assert.equal((await again.outcome(remove)).kind, "ok");
    await lab.reload();
    const third = await lab.attach(server, talk.id, { tools: [describe(remove)] });
    assert.equal((await third.state()).approval, null);
    assert.deepEqual(await third.heard("approval"), []);
  });

  scenario("the policy can change while the conversation goes on", async ({ server, lab }) => {
    const remove = unique("remove");
    const talk = await lab.start(server, {
      tools: [describe(remove)],
      steps: [call(remove, { path: "a" }), finish("one"), call(remove, { path: "b" }), finish("two")],
    });
    assert.equal((await talk.turn()).status, "finished");
    await talk.ask("setConfirmationPolicy", { kind: "AlwaysConfirm" });
    assert.equal((await talk.turn()).status, "waiting_for_confirmation");
    await talk.reject();
    await talk.until("call", { state: "settled", outcome: { kind: "rejected" } });
    assert.equal((await talk.runs()).length, 1);
  });

  scenario("a batch is one question", async (scene) => {
    const [read, remove] = [unique("read"), unique("remove")];
    const { talk, question } = await waiting(scene, {
      tools: [describe(read), describe(remove)],
      steps: [calls([read, { path: "a" }], [remove, { path: "b" }]), finish("ok")],
    });
    assert.deepEqual(question.calls.map(({ tool }) => tool), [read, remove]);
    await talk.approve();
    await talk.idle();
    assert.equal((await talk.runs()).length, 2);
  });
});
