// Servers that go away while the agent works, and come back with all they had.
import assert from "node:assert/strict";
import { NEXT_KEY } from "./support/servers.mjs";
import { call, finish, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

/** How long a page may take to find its server again: it tries twice a minute at least. */
const RETURN = 60_000;

// A handler may have to wait for as long as a server takes to come back.
const describe = (name, handler = "echo") => ({ name, description: `Does ${name}.`, handler, timeout: 600_000 });

on(["real", "real143"], (scenario) => {
  for (const [title, how, closeCode, status] of /** @type {const} */ ([
    ["restarts", "restart", 1012, "paused"],
    ["is killed", "kill", 1006, "error"],
  ])) {
    scenario(`a server that ${title} is found again, and the run goes on when it is asked to`, async ({ server, lab }) => {
      const [one, two, hold] = [unique("one"), unique("two"), unique("hold")];
      const talk = await lab.start(server, {
        tools: [describe(one), describe(two)],
        // The second answer is lost with the server that waited for it.
        steps: [call(one), call(two, {}, { hold }), call(two), say("done")],
      });
      await talk.send("go");
      await talk.until("call", { tool: one, state: "settled" });
      const idle = talk.idle();
      await server[how]();
      const lost = await talk.until("connection", { state: "lost" });
      assert.equal(lost.value.closeCode, closeCode);
      await talk.until("connection", { state: "ready" }, { after: lost.n, deadline: RETURN });
      assert.equal((await idle).status, status);
      assert.equal((await talk.runs()).length, 1, "the log is read again, and runs nothing twice");
      await talk.run();
      assert.equal((await talk.idle()).status, "finished");
      assert.deepEqual((await talk.runs()).map(({ tool }) => tool), [one, two]);
      await server.release(hold);
    });

    scenario(`a handler outlasts a server that ${title}`, async ({ server, lab }) => {
      const [slow, hold] = [unique("slow"), unique("hold")];
      const talk = await lab.start(server, {
        tools: [describe(slow, { kind: "slow_echo", gate: slow })],
        steps: [call(slow), say("lost", { hold }), say("done")],
      });
      await talk.send("go");
      await talk.until("run", { tool: slow });
      await server[how]();
      const lost = await talk.until("connection", { state: "lost" });
      await talk.until("connection", { state: "ready" }, { after: lost.n, deadline: RETURN });
      await talk.until("status", { status });
      assert.deepEqual((await talk.state()).openCalls.map(({ state }) => state), ["running"]);
      await lab.openGate(slow);
      assert.equal((await talk.idle()).status, status);
      assert.equal((await talk.outcome(slow)).kind, "ok");
      assert.deepEqual(await talk.heard("abort"), []);
      await server.release(hold);
    });
  }

  scenario("a server that comes back with another key ends the conversation, and the new key joins it", async ({ server, lab }) => {
    const [slow, hold] = [unique("slow"), unique("hold")];
    const tools = [describe(slow, { kind: "slow_echo", gate: slow })];
    const talk = await lab.start(server, { tools, steps: [call(slow), say("lost", { hold }), call(slow), finish("ok")] });
    await talk.send("go");
    await talk.until("run", { tool: slow });
    const idle = assert.rejects(talk.idle(), { code: "unauthorized" });
    await server.restart({ key: NEXT_KEY });
    await talk.until("error", { code: "unauthorized" }, { deadline: RETURN });
    await idle;
    await talk.until("connection", { state: "closed" });
    // The handler is told, and what it gives back changes nothing any more.
    assert.equal((await talk.heard("abort")).length, 1);
    assert.equal((await talk.outcome(slow)).kind, "cancelled");
    await lab.openGate(slow);
    await talk.until("ran", { tool: slow });

    const again = await lab.attach(server, talk.id, { tools });
    assert.equal(again.opened.status, "paused");
    await server.release(hold);
    await again.run();
    assert.equal((await again.idle()).status, "finished");
    assert.equal((await again.runs()).length, 1, "only the new call");
  });
});
