// Keys stay where they belong. Every scenario of every file checks that too, at its end.
import assert from "node:assert/strict";
import { Proxy } from "./support/proxy.mjs";
import { KEY, LLM_KEY } from "./support/servers.mjs";
import { call, finish, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";
import { wanted } from "./support/uipath.mjs";

const describe = (name, handler) => ({ name, description: `Does ${name}.`, handler });

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("the key travels in a header and in the first frame, and in no URL", async ({ server, lab, onEnd }) => {
    const proxy = await Proxy.before(server.url);
    onEnd(() => proxy.close());
    const [open, hold] = [unique("open"), unique("hold")];
    const talk = await lab.start(server, {
      url: proxy.url,
      tools: [{ name: open, description: "Opens.", handler: "echo" }],
      steps: [call(open), call(open, {}, { hold }), finish("ok")],
    });
    await talk.send("go");
    await talk.until("call", { tool: open, state: "settled" });
    proxy.cut();
    const lost = await talk.until("connection", { state: "lost" });
    await talk.until("connection", { state: "ready" }, { after: lost.n });
    await server.release(hold);
    await talk.idle();

    assert.equal(lab.sockets.length, 2);
    for (const { url, sent } of lab.sockets) {
      assert.ok(!/key|token|auth/i.test(url), url);
      assert.deepEqual(sent.map((text) => JSON.parse(text)), [{ type: "auth", session_api_key: KEY }]);
    }
    assert.ok(lab.urls.some((url) => url.includes("/api/conversations")));
    assert.ok(!lab.urls.some((url) => url.includes(KEY)));
  });

  scenario("no refusal, no event and no console line holds a key", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, {
      tools: [{ name: open, description: "Opens.", handler: "throws" }],
      steps: [call(open), { error: 401 }],
    });
    assert.equal((await talk.turn()).status, "error");
    const refusals = [
      // The server's answer echoes what was sent.
      lab.start(server, { confirmation_policy: { kind: "NeverHeardOf", note: LLM_KEY } }),
      lab.start(server, { workspace: { kind: "NoSuchWorkspace", working_dir: LLM_KEY } }),
      lab.attach(server, crypto.randomUUID()),
      lab.start(server, { key: `${KEY} with spaces` }),
      lab.start(server, { url: `http://user:${KEY}@127.0.0.1:1` }),
    ];
    for (const [at, refused] of (await Promise.allSettled(refusals)).entries()) {
      assert.equal(refused.status, "rejected", `refusal ${at}`);
      const told = JSON.stringify(refused.reason) + refused.reason.stack;
      assert.ok(!told.includes(KEY) && !told.includes(LLM_KEY), refused.reason.message);
      assert.ok(refused.reason.pagehands, told);
    }
    const history = JSON.stringify(await talk.history());
    assert.ok(!history.includes(KEY));
    await lab.check();
  });
});

on(["mock", "legacy", "service"], (scenario) => {
  scenario("nothing that is stored and no word about a core that was lost holds a key", async ({ server, lab }) => {
    const [open, fails] = [unique("open"), unique("fails")];
    const tools = [describe(open, "echo"), describe(fails, "throws")];
    const steps = server.target.kind === "service" ? [{ calls: [wanted(open), wanted(fails)] }, { text: "done" }] : [call(open), call(fails), finish("ok")];
    const talk = await lab.start(server, { tools, steps });
    assert.equal((await talk.turn()).status, "finished");
    assert.equal((await talk.outcomes(open)).length, 1);
    const stored = JSON.stringify(await lab.run("stored"));
    assert.ok(stored.includes("handler_threw"), "the outcomes are there");
    assert.ok(!stored.includes(KEY) && !stored.includes(LLM_KEY), stored);
    await lab.run("exhaust", server.target.kind === "service" ? "uipath" : "openhands");
    const { error } = await lab.run("overfill", "talk-1");
    assert.equal(error.code, "internal_panic");
    assert.ok(!JSON.stringify(error).includes(KEY), error.stack);
    await lab.run("forgetTroubles");
    await lab.check();
  });
});

on(
  ["mock"],
  (scenario) => {
    scenario("a server without keys needs none", async ({ server, lab }) => {
      const talk = await lab.start(server, { steps: [finish("ok")] });
      assert.equal((await talk.turn()).status, "finished");
    });
  },
  { key: "" },
);
