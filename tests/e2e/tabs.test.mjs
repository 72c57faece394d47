// Several tabs with one conversation, and tabs that are reloaded, killed or frozen: every call still runs at most once.
import assert from "node:assert/strict";
import { Proxy } from "./support/proxy.mjs";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const ITEM = object({ item: { type: "string" } });
// A handler may have to wait for as long as a server takes to come back.
const describe = (name, handler = "echo") => ({ name, description: `Does ${name}.`, inputSchema: ITEM, handler, timeout: 600_000 });
/** A tool whose handler goes on when a test opens the gate of its name. */
const gated = (name) => describe(name, { kind: "slow_echo", gate: name });
const INTERRUPTED = { state: "settled", outcome: { kind: "interrupted" } };

/** @typedef {import("./support/page.mjs").Lab} Lab */
/** @typedef {import("./support/talk.mjs").Talk} Talk */
/** @typedef {{ lab: Lab, talk: Talk }} Tab */

/**
 * Opens a conversation in so many tabs.
 * @param {import("./support/suite.mjs").Scene} scene
 * @param {number} count
 * @param {{ tools: object[], steps: object[], url?: string }} options
 * @returns {Promise<Tab[]>}
 */
async function openTabs({ server, lab, openPage }, count, { steps, script, ...options }) {
  const first = await lab.start(server, { steps, script, ...options });
  const join = async () => {
    const page = await openPage();
    return { lab: page, talk: await page.attach(server, first.id, options) };
  };
  return [{ lab, talk: first }, ...(await Promise.all(Array.from({ length: count - 1 }, join)))];
}

/** The tab in which a tool runs, once it does, and the others. @param {import("./support/suite.mjs").Scene} scene @param {Tab[]} tabs @param {string} tool */
async function runnerOf({ runs }, tabs, tool) {
  const { page, callId } = await runs.until((all) => all.find((run) => run.tool === tool));
  const runner = tabs.find(({ lab }) => lab.name === page);
  assert.ok(runner, `${page} is none of the tabs`);
  return { runner, others: tabs.filter((tab) => tab !== runner), callId };
}

/** The end of the turn, as a tab sees it that did not begin it. @param {Talk} talk */
async function turnOver(talk) {
  await talk.until("status", { status: "finished" });
  return talk.idle();
}

/** A server that a test may cut the pages off from. @param {import("./support/suite.mjs").Scene} scene */
async function proxied({ server, onEnd }) {
  const proxy = await Proxy.before(server.url);
  onEnd(() => proxy.close());
  return proxy;
}

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("of two tabs one runs a call, and both tell its outcome", async (scene) => {
    const open = unique("open");
    const tabs = await openTabs(scene, 2, { tools: [gated(open)], steps: [call(open, { item: "x" }), say("done")] });
    await tabs[0].talk.send("go");
    const { runner, others: [other], callId } = await runnerOf(scene, tabs, open);
    await other.talk.until("call", { callId, state: "elsewhere" });
    assert.deepEqual((await other.talk.state()).openCalls.map(({ state }) => state), ["elsewhere"]);
    await runner.lab.openGate(open);
    for (const { talk } of tabs) {
      assert.equal((await turnOver(talk)).status, "finished");
      assert.deepEqual(await talk.outcome(open), { kind: "ok", result: { echo: { item: "x" } } });
    }
    const begin = ["announced", "authorised", "validating", "claiming"];
    assert.deepEqual(await runner.talk.states(open), [...begin, "running", "settled"]);
    assert.deepEqual(await other.talk.states(open), [...begin, "elsewhere", "settled"]);
    assert.equal(scene.runs.of(open).length, 1);
  });

  scenario("five tabs share forty calls", async (scene) => {
    const open = unique("open");
    const batch = (from) => calls(...Array.from({ length: 10 }, (_, at) => [open, { item: `item ${from + at}` }]));
    const tabs = await openTabs(scene, 5, {
      tools: [describe(open)],
      steps: [batch(0), batch(10), { ...call(open, { item: "line {i}" }), repeat: 20 }, say("done")],
    });
    await tabs[0].talk.send("go");
    await Promise.all(tabs.map(({ talk }) => turnOver(talk)));
    const items = scene.runs.of(open).map(({ args }) => args.item);
    assert.equal(items.length, 40);
    assert.equal(new Set(items).size, 40);
    for (const { talk } of tabs) {
      const outcomes = await talk.outcomes(open);
      assert.deepEqual([outcomes.length, outcomes.filter(({ kind }) => kind === "ok").length], [40, 40]);
    }
  });

  scenario("a tab that is killed during a call leaves it interrupted, and another tab goes on", async (scene) => {
    const [slow, next, hold] = [unique("slow"), unique("next"), unique("hold")];
    const tools = [gated(slow), describe(next)];
    const tabs = await openTabs(scene, 2, { tools, steps: [call(slow), call(next, {}, { hold }), say("done")] });
    await tabs[0].talk.send("go");
    const { runner, others: [other], callId } = await runnerOf(scene, tabs, slow);
    await other.talk.until("call", { callId, state: "elsewhere" });
    await runner.lab.crash();
    await other.talk.until("call", { callId, ...INTERRUPTED });
    await scene.server.release(hold);
    assert.equal((await turnOver(other.talk)).status, "finished");
    assert.equal((await other.talk.outcome(next)).kind, "ok");
    assert.deepEqual(scene.runs.all.map(({ tool }) => tool), [slow, next]);
  }, { needs: "debugger" });

  scenario("a tab that is closed during a call leaves it interrupted", async (scene) => {
    const slow = unique("slow");
    const tabs = await openTabs(scene, 2, { tools: [gated(slow)], steps: [call(slow), say("done")] });
    await tabs[0].talk.send("go");
    const { runner, others: [other], callId } = await runnerOf(scene, tabs, slow);
    await runner.lab.close();
    await other.talk.until("call", { callId, ...INTERRUPTED });
    await turnOver(other.talk);
    assert.equal(scene.runs.all.length, 1);
  });

  scenario("a tab that is reloaded during a call tells it as interrupted, and runs it no more", async (scene) => {
    const { server, lab, runs } = scene;
    const [slow, next, hold] = [unique("slow"), unique("next"), unique("hold")];
    const tools = [gated(slow), describe(next)];
    const before = await lab.start(server, { tools, steps: [call(slow), call(next, {}, { hold }), say("done")] });
    await before.send("go");
    const { callId } = await runs.until((all) => all.find((run) => run.tool === slow));
    await lab.reload();
    const talk = await lab.attach(server, before.id, { tools });
    await talk.until("call", { callId, ...INTERRUPTED });
    await server.release(hold);
    assert.equal((await turnOver(talk)).status, "finished");
    assert.deepEqual(runs.all.map(({ tool }) => tool), [slow, next]);
  });

  scenario("what is acknowledged while the only tab reloads runs when it is back", async (scene) => {
    const { server, lab, runs } = scene;
    const [one, two, hold, last] = [unique("one"), unique("two"), unique("hold"), unique("hold")];
    const tools = [describe(one), describe(two)];
    const steps = [call(one), { ...calls([two, { item: "a" }], [two, { item: "b" }]), hold }, say("done", { hold: last })];
    const before = await lab.start(server, { tools, steps });
    await before.send("go");
    await before.until("call", { tool: one, state: "settled" });
    await lab.reload();
    await server.release(hold);
    await server.logged(before.id, "ClientToolObservation", 3);
    assert.equal(runs.all.length, 1);
    const talk = await lab.attach(server, before.id, { tools });
    await server.release(last);
    await runs.until((all) => all.length === 3);
    assert.deepEqual(runs.of(two).map(({ args }) => args.item), ["a", "b"]);
    assert.equal(runs.of(one).length, 1);
    assert.equal((await turnOver(talk)).status, "finished");
  });

  scenario("a tab that is reloaded between the announcement and the acknowledgement runs the call once", async (scene) => {
    const { server, lab, runs } = scene;
    const proxy = await proxied(scene);
    const [open, last] = [unique("open"), unique("hold")];
    const tools = [describe(open)];
    const steps = [call(open), say("done", { hold: last })];
    const before = await lab.start(server, { url: proxy.url, tools, steps });
    const cut = proxy.cutOn(/"kind":\s*"ClientAction_open/, { forward: true });
    proxy.refuse(true);
    await before.send("go");
    await cut;
    await before.until("call", { tool: open, state: "announced" });
    await lab.reload();
    await server.logged(before.id, "ClientToolObservation", 1);
    assert.equal(runs.all.length, 0);
    proxy.refuse(false);
    const talk = await lab.attach(server, before.id, { url: proxy.url, tools });
    await runs.until((all) => all.length === 1);
    await server.release(last);
    assert.equal((await turnOver(talk)).status, "finished");
    assert.equal((await talk.outcome(open)).kind, "ok");
    assert.equal(runs.all.length, 1);
  });

  scenario("storage that is cleared in the middle of a conversation stops nothing and repeats nothing", async (scene) => {
    const [open, hold] = [unique("open"), unique("hold")];
    const steps = [call(open, { item: "1" }), call(open, { item: "2" }, { hold }), call(open, { item: "3" }), say("done")];
    const tabs = await openTabs(scene, 2, { tools: [describe(open)], steps });
    await tabs[0].talk.send("go");
    for (const { talk } of tabs) await talk.until("call", { tool: open, state: "settled" });
    await tabs[0].lab.clearStorage();
    await scene.server.release(hold);
    for (const { talk } of tabs) assert.equal((await turnOver(talk)).status, "finished");
    assert.deepEqual(scene.runs.of(open).map(({ args }) => args.item).toSorted(), ["1", "2", "3"]);
  }, { needs: "debugger" });
});

on(["mock"], (scenario) => {
  for (const storage of /** @type {const} */ (["missing", "blocked", "failing", "silent", "foreign", "bare", "later", "contested"])) {
    scenario(`where IndexedDB is ${storage}, calls run all the same, and the app is told`, async ({ server, openPage, runs }) => {
      const open = unique("open");
      const lab = await openPage({ storage });
      const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), call(open), finish("ok")] });
      assert.equal((await talk.turn()).status, "finished");
      assert.equal(runs.of(open).length, 2);
      assert.deepEqual((await talk.outcomes(open)).map(({ kind }) => kind), ["ok", "ok"]);
      assert.equal((await talk.heard("notice")).filter(({ code }) => code === "storage_unavailable").length, 1);
    });
  }

  scenario("handlers that hold up the page, as dialogs do, cost it no storage", async (scene) => {
    const open = unique("open");
    // Each handler of this harness reports its run with a synchronous request.
    const items = Array.from({ length: 12 }, (_, at) => [open, { item: `${at}` }]);
    const tabs = await openTabs(scene, 2, { tools: [describe(open)], steps: [calls(...items), calls(...items), say("done")] });
    assert.equal((await tabs[0].talk.turn()).status, "finished");
    assert.equal(scene.runs.all.length, 24);
    for (const { talk } of tabs) {
      await turnOver(talk);
      assert.deepEqual((await talk.heard("notice")).filter(({ code }) => code === "storage_unavailable"), []);
    }
  });

  scenario("where storage is full, calls run all the same", async ({ server, lab, runs }) => {
    const open = unique("open");
    await lab.limitStorage(1);
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), call(open), finish("ok")] });
    assert.equal((await talk.turn()).status, "finished");
    assert.equal(runs.of(open).length, 2);
  }, { needs: "debugger" });

  scenario("a frozen tab misses nothing, and holds nobody up that does not need it", async (scene) => {
    const open = unique("open");
    const tabs = await openTabs(scene, 2, { tools: [describe(open)], steps: [call(open), call(open), say("done")] });
    const [awake, frozen] = tabs;
    await frozen.lab.freeze(true);
    assert.equal((await awake.talk.turn()).status, "finished");
    await frozen.lab.freeze(false);
    await turnOver(frozen.talk);
    for (const { talk } of tabs) assert.deepEqual((await talk.outcomes(open)).map(({ kind }) => kind), ["ok", "ok"]);
    assert.equal(scene.runs.of(open).length, 2);
  }, { needs: "debugger" });

  scenario("a call whose tab is frozen waits for it, and runs nowhere else", async (scene) => {
    const open = unique("open");
    const tabs = await openTabs(scene, 2, { tools: [gated(open)], steps: [call(open), say("done")] });
    await tabs[0].talk.send("go");
    const { runner, others: [other], callId } = await runnerOf(scene, tabs, open);
    await runner.lab.freeze(true);
    await other.talk.until("status", { status: "finished" });
    assert.deepEqual((await other.talk.state()).openCalls.map((open) => [open.callId, open.state]), [[callId, "elsewhere"]]);
    await runner.lab.freeze(false);
    await runner.lab.openGate(open);
    for (const { talk } of tabs) {
      await turnOver(talk);
      assert.equal((await talk.outcome(open)).kind, "ok");
    }
    assert.equal(scene.runs.all.length, 1);
  }, { needs: "debugger" });

  scenario("a hidden tab runs the calls that nobody else does", async ({ server, lab, runs }) => {
    const open = unique("open");
    const talk = await lab.start(server, { tools: [describe(open)], steps: [call(open), say("done")] });
    await lab.hide(true);
    assert.equal((await talk.turn()).status, "finished");
    assert.equal(runs.all.length, 1);
  });

  scenario("tabs without a network miss nothing, and share what happened when it is back", async (scene) => {
    const { server, runs } = scene;
    const [open, hold, last] = [unique("open"), unique("hold"), unique("hold")];
    const proxy = await proxied(scene);
    const steps = [call(open, { item: "1" }), calls([open, { item: "2" }], [open, { item: "3" }]), say("done", { hold: last })];
    steps[1] = { ...steps[1], hold };
    const tabs = await openTabs(scene, 2, { url: proxy.url, tools: [describe(open)], steps });
    await tabs[0].talk.send("go");
    for (const { talk } of tabs) await talk.until("call", { tool: open, state: "settled" });
    // A browser without a network lets its sockets live until they fail.
    await tabs[0].lab.offline(true);
    proxy.cut();
    for (const { talk } of tabs) await talk.until("connection", { state: "lost" });
    await server.release(hold);
    await server.logged(tabs[0].talk.id, "ClientToolObservation", 3);
    assert.equal(runs.all.length, 1);
    await tabs[0].lab.offline(false);
    await runs.until((all) => all.length === 3);
    await server.release(last);
    for (const { talk } of tabs) {
      await turnOver(talk);
      assert.deepEqual((await talk.outcomes(open)).map(({ kind }) => kind), ["ok", "ok", "ok"]);
    }
  }, { needs: "offline" });
});

on(["real", "real143"], (scenario) => {
  for (const [title, how, status] of /** @type {const} */ ([
    ["restarts", "restart", "paused"],
    ["is killed", "kill", "error"],
  ])) {
    scenario(`a server that ${title} during a call finds both tabs again, and the call in one of them`, async (scene) => {
      const [slow, next, hold] = [unique("slow"), unique("next"), unique("hold")];
      const tools = [gated(slow), describe(next)];
      const [script, steps] = [unique("script"), [call(slow), say("lost", { hold }), call(next), say("done")]];
      const tabs = await openTabs(scene, 2, { tools, script, steps });
      await tabs[0].talk.send("go");
      const { runner, others: [other] } = await runnerOf(scene, tabs, slow);
      // The answer that is lost is the second one.
      await scene.server.asked(script, 2);
      await scene.server[how]();
      // A page tries twice a minute at least.
      for (const { talk } of tabs) await talk.until("status", { status }, { deadline: 60_000 });
      assert.deepEqual((await other.talk.state()).openCalls.map(({ state }) => state), ["elsewhere"]);
      await runner.lab.openGate(slow);
      for (const { talk } of tabs) await talk.until("call", { tool: slow, state: "settled" });
      await scene.server.release(hold);
      await other.talk.run();
      for (const { talk } of tabs) {
        await turnOver(talk);
        assert.deepEqual([(await talk.outcome(slow)).kind, (await talk.outcome(next)).kind], ["ok", "ok"]);
      }
      assert.deepEqual(scene.runs.all.map(({ tool }) => tool), [slow, next]);
    });
  }
});
