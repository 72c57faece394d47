// Tabs and reloads while a UiPath agent waits: its call runs once and is answered once.
import assert from "node:assert/strict";
import { unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { wanted as call } from "./support/uipath.mjs";

const gated = (/** @type {string} */ name) => ({ name, description: "Works.", handler: { kind: "slow_echo", gate: name }, timeout: 600_000 });
const thanks = { text: "thanks" };

/** Two tabs with one conversation, and which of them runs the first call of a tool once it is sent. */
async function two({ server, lab, runs, openPage }, tools, steps) {
  const talk = await lab.start(server, { tools, steps });
  const page = await openPage();
  const joined = await page.attach(server, talk.id, { tools });
  await talk.send("go");
  const tabs = [{ lab, talk }, { lab: page, talk: joined }];
  const sorted = async (/** @type {string} */ tool) => {
    const run = await runs.until((all) => all.find((known) => known.tool === tool));
    return tabs.toSorted((tab) => (tab.lab.name === run.page ? -1 : 1));
  };
  return { tabs, sorted };
}

on(["service"], (scenario) => {
  scenario("of two tabs one runs a call, the other is told, and one answer leaves", async (scene) => {
    const { server, runs } = scene;
    const work = unique("work");
    const { tabs, sorted } = await two(scene, [gated(work)], [{ calls: [call(work)] }, thanks]);
    const [runner, other] = await sorted(work);
    await other.talk.until("call", { tool: work, state: "elsewhere" });
    await runner.lab.openGate(work);
    // Told by the other tab, and not found when it is next looked for.
    await other.talk.until("call", { tool: work, state: "settled" });
    for (const { talk } of tabs) {
      await talk.until("status", { status: "finished" });
      await talk.idle();
      assert.deepEqual(await talk.outcome(work), { kind: "ok", result: { echo: {} } });
    }
    assert.equal(runs.of(work).length, 1);
    assert.equal((await server.answers(tabs[0].talk.id, `call-${work}`)).length, 1);
  });

  scenario("of two tabs that answer a question one is heard", async (scene) => {
    const { server, runs } = scene;
    const work = unique("work");
    const tools = [{ name: work, description: "Works.", handler: "echo" }];
    const { tabs } = await two(scene, tools, [{ calls: [call(work, {}, { confirm: true })] }, thanks]);
    for (const { talk } of tabs) await talk.until("approval");
    const ends = await Promise.allSettled(tabs.map(({ talk }) => talk.approve()));
    assert.deepEqual(ends.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
    assert.equal(ends.find(({ status }) => status === "rejected")?.reason.code, "approval_answered");
    for (const { talk } of tabs) await talk.until("status", { status: "finished" });
    const answers = await server.answers(tabs[0].talk.id, `call-${work}`);
    assert.deepEqual(answers.map(({ kind }) => kind), ["confirmToolCall", "endToolCall"]);
    assert.equal(runs.of(work).length, 1);
  });

  scenario("a tab that is killed in the midst of a call is answered for by the other, once", async (scene) => {
    const { server, runs } = scene;
    const work = unique("work");
    const { sorted } = await two(scene, [gated(work)], [{ calls: [call(work)] }, thanks]);
    const [runner, other] = await sorted(work);
    await other.talk.until("call", { tool: work, state: "elsewhere" });
    await runner.lab.crash();
    await other.talk.until("status", { status: "finished" });
    await other.talk.idle();
    assert.equal((await other.talk.outcome(work)).kind, "interrupted");
    const [{ body }, ...more] = await server.answers(other.talk.id, `call-${work}`);
    assert.deepEqual(more, []);
    assert.match(body.output.error, /may or may not have completed/);
    assert.equal(runs.of(work).length, 1);
  }, { needs: "debugger" });

  scenario("a question that is open when a page is reloaded is asked again", async ({ server, lab, runs }) => {
    const work = unique("work");
    const tools = [{ name: work, description: "Works.", handler: "echo" }];
    const talk = await lab.start(server, { tools, steps: [{ calls: [call(work, { n: 1 }, { confirm: true })] }, thanks] });
    await talk.send("go");
    await talk.until("approval");
    await lab.reload();
    const back = await lab.attach(server, talk.id, { tools });
    const { value } = await back.until("approval");
    assert.deepEqual(value.calls.map(({ tool, arguments: args, client }) => ({ tool, args, client })), [{ tool: work, args: { n: 1 }, client: true }]);
    await back.approve();
    assert.equal((await back.idle()).status, "finished");
    assert.deepEqual((await server.answers(talk.id, `call-${work}`)).map(({ body }) => body), [
      { approved: true, input: { n: 1 } },
      { output: { echo: { n: 1 } } },
    ]);
    assert.equal(runs.of(work).length, 1);
  });

  scenario("a result that its page could not deliver leaves once, from the page that comes after", async ({ server, lab, runs }) => {
    const work = unique("work");
    const tools = [{ name: work, description: "Works.", handler: "echo" }];
    const talk = await lab.start(server, { tools, steps: [{ calls: [call(work, { n: 1 })] }, thanks] });
    await server.faults([{ fault: "swallow", match: { kind: "endToolCall", from: "peer" } }]);
    await talk.send("go");
    await talk.until("call", { tool: work, state: "settled" });
    await server.hit("swallow");
    await lab.reload();
    const back = await lab.attach(server, talk.id, { tools });
    assert.equal((await back.idle()).status, "finished");
    assert.deepEqual((await server.answers(talk.id, `call-${work}`)).map(({ body }) => body), [{ output: { echo: { n: 1 } } }]);
    assert.equal(runs.of(work).length, 1);
  });
});
