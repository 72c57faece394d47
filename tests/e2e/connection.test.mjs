// Connections that break while the agent works: every call still runs exactly once.
import assert from "node:assert/strict";
import { Proxy } from "./support/proxy.mjs";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, handler = "echo") => ({ name, description: `Does ${name}.`, handler });

/** @param {import("./support/suite.mjs").Scene} scene */
async function proxied({ server, onEnd }) {
  const proxy = await Proxy.before(server.url);
  onEnd(() => proxy.close());
  return proxy;
}

/** How the connection fared. @param {import("./support/talk.mjs").Talk} talk */
const course = async (talk) => (await talk.heard("connection")).map(({ state }) => state);

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("a socket that is cut between two calls is replaced, and nothing is missed", async (scene) => {
    const { server, lab } = scene;
    const proxy = await proxied(scene);
    const [one, two, hold] = [unique("one"), unique("two"), unique("hold")];
    const talk = await lab.start(server, {
      url: proxy.url,
      tools: [describe(one), describe(two)],
      steps: [call(one), call(two, {}, { hold }), say("done")],
    });
    await talk.send("go");
    const ran = await talk.until("call", { tool: one, state: "settled" });
    proxy.cut();
    const lost = await talk.until("connection", { state: "lost" }, { after: ran.n });
    assert.equal(lost.value.closeCode, 1006);
    assert.ok(lost.value.retryIn >= 0 && lost.value.reason !== undefined, JSON.stringify(lost.value));
    await talk.until("connection", { state: "ready" }, { after: lost.n });
    await server.release(hold);
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ tool }) => tool), [one, two]);
    assert.deepEqual((await talk.heard("message")).map(({ text }) => text), ["go", "done"]);
  });

  scenario("what happens while the page is cut off is caught up with", async (scene) => {
    const { server, lab } = scene;
    const proxy = await proxied(scene);
    const [one, two, hold, last] = [unique("one"), unique("two"), unique("hold"), unique("hold")];
    const talk = await lab.start(server, {
      url: proxy.url,
      tools: [describe(one), describe(two)],
      steps: [call(one), calls([two, {}], [one, {}]), call(two), say("caught up", { hold: last })].map((step, at) =>
        at === 1 ? { ...step, hold } : step,
      ),
    });
    await talk.send("go");
    await talk.until("call", { tool: one, state: "settled" });
    proxy.refuse(true);
    proxy.cut();
    const lost = await talk.until("connection", { state: "lost" });
    await server.release(hold);
    // Three more calls, acknowledged while nobody listens.
    await server.logged(talk.id, "ClientToolObservation", 4);
    await talk.until("connection", { state: "lost" }, { after: lost.n });
    assert.equal((await talk.runs()).length, 1);
    proxy.refuse(false);
    await talk.until("connection", { state: "ready" }, { after: lost.n });
    await server.release(last);
    assert.equal((await talk.idle()).status, "finished");
    assert.equal((await talk.runs(one)).length, 2);
    assert.equal((await talk.runs(two)).length, 2);
  });

  scenario("a turn that ends while the page is cut off resolves idle()", async (scene) => {
    const { server, lab } = scene;
    const proxy = await proxied(scene);
    const [one, hold] = [unique("one"), unique("hold")];
    const talk = await lab.start(server, {
      url: proxy.url,
      tools: [describe(one)],
      steps: [call(one), say("over", { hold })],
    });
    await talk.send("go");
    await talk.until("call", { tool: one, state: "settled" });
    const idle = talk.idle();
    proxy.refuse(true);
    proxy.cut();
    await talk.until("connection", { state: "lost" });
    await server.release(hold);
    await server.logged(talk.id, '"value":"finished"', 1);
    proxy.refuse(false);
    assert.deepEqual(await idle, { status: "finished" });
    assert.equal((await talk.runs()).length, 1);
  });

  for (const [title, words, forward] of [
    ["after the announcement", /"kind":\s*"ClientAction_cut/, true],
    ["before the announcement", /"kind":\s*"ClientAction_cut/, false],
    ["after the acknowledgement", /"kind":\s*"ClientToolObservation"/, true],
    ["before the acknowledgement", /"kind":\s*"ClientToolObservation"/, false],
  ]) {
    scenario(`a socket that is cut right ${title} costs no call and repeats none`, async (scene) => {
      const { server, lab } = scene;
      const proxy = await proxied(scene);
      const cut = unique("cut");
      const talk = await lab.start(server, {
        url: proxy.url,
        tools: [describe(cut)],
        steps: [call(cut), finish("ok")],
      });
      const happened = proxy.cutOn(words, { forward });
      await talk.send("go");
      await happened;
      assert.equal((await talk.idle()).status, "finished");
      const lost = await talk.until("connection", { state: "lost" });
      await talk.until("connection", { state: "ready" }, { after: lost.n });
      assert.equal((await talk.runs()).length, 1);
      assert.equal((await talk.outcome(cut)).kind, "ok");
      assert.equal(proxy.opened, 2);
    });
  }

  scenario("a handler goes on while the connection is replaced", async (scene) => {
    const { server, lab } = scene;
    const proxy = await proxied(scene);
    const slow = unique("slow");
    const talk = await lab.start(server, {
      url: proxy.url,
      tools: [describe(slow, { kind: "slow_echo", gate: slow })],
      steps: [call(slow), finish("ok")],
    });
    await talk.send("go");
    await talk.until("run", { tool: slow });
    proxy.cut();
    const lost = await talk.until("connection", { state: "lost" });
    await talk.until("connection", { state: "ready" }, { after: lost.n });
    await lab.openGate(slow);
    await talk.idle();
    assert.equal((await talk.outcome(slow)).kind, "ok");
    assert.deepEqual(await talk.heard("abort"), []);
  });

  scenario("a closed conversation leaves no socket and makes no new one", async (scene) => {
    const { server, lab } = scene;
    const proxy = await proxied(scene);
    const talk = await lab.start(server, { url: proxy.url, steps: [finish("ok")] });
    await talk.turn();
    await talk.close();
    assert.equal((await course(talk)).at(-1), "closed");
    await proxy.forsaken();
    assert.equal(proxy.opened, 1);
  });
});

on(["real"], (scenario) => {
  scenario("a frame that the session socket refuses to carry is read in the log", async ({ server, lab }) => {
    const [big, small] = [unique("big"), unique("small")];
    const talk = await lab.start(server, {
      tools: [{ ...describe(big), inputSchema: object({ item: { type: "string" } }) }, describe(small)],
      // Three times in its event, the argument makes a frame of more than 4 MiB.
      steps: [call(big, { item: "x".repeat(1_700_000) }), call(small), finish("ok")],
    });
    await talk.send("go");
    const end = await talk.until("call", { tool: small, state: "settled" });
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ tool }) => tool), [big, small]);
    const attempts = (await talk.tape()).filter(({ n, topic, value }) => n < end.n && topic === "connection" && value.state === "lost");
    assert.ok(attempts.length < 5, `${attempts.length} lost connections`);
  });
});
