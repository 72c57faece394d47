// The ways in which a turn ends, and turns of unusual size.
import assert from "node:assert/strict";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const ITEM = object({ item: { type: "string" } });
const describe = (name, more) => ({ name, description: `Does ${name}.`, inputSchema: ITEM, handler: "echo", ...more });

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("an agent that repeats itself is stuck, and goes on when it is spoken to", async ({ server, lab }) => {
    const same = unique("same");
    const talk = await lab.start(server, {
      stuck_detection: true,
      tools: [describe(same)],
      steps: [{ ...call(same, { item: "again" }), repeat: 4 }, say("Sorry.")],
    });
    assert.deepEqual(await talk.turn(), { status: "stuck" });
    assert.equal((await talk.runs()).length, 4);
    assert.deepEqual(await talk.turn("Stop that."), { status: "finished" });
  });

  scenario("an interrupted agent is paused, and run() lets it go on", async ({ server, lab }) => {
    const [open, hold] = [unique("open"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(open)],
      // The answer under way is lost.
      steps: [call(open, { item: "lost" }, { hold }), call(open, { item: "kept" }), finish("ok")],
    });
    await talk.send("go");
    await talk.until("status", { status: "running" });
    const idle = talk.idle();
    await server.rest("POST", `/api/conversations/${talk.id}/interrupt`);
    assert.deepEqual(await idle, { status: "paused" });
    await server.release(hold);
    await talk.run();
    assert.deepEqual(await talk.idle(), { status: "finished" });
    assert.deepEqual((await talk.runs()).map(({ args }) => args.item), ["kept"]);
  });

  scenario("a call beside the agent's last word is stale by the next turn, and ends as cancelled", async ({ server, lab }) => {
    const late = unique("late");
    const talk = await lab.start(server, {
      tools: [describe(late)],
      steps: [calls(["finish", { message: "done" }], [late, { item: "x" }]), finish("really done")],
    });
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual((await talk.state()).openCalls.map(({ state }) => state), ["announced"]);
    assert.deepEqual(await talk.runs(), []);
    // The server lets it through now, long after it was wanted.
    assert.equal((await talk.turn()).status, "finished");
    assert.deepEqual(await talk.runs(), []);
    assert.equal((await talk.outcome(late)).kind, "cancelled");
    assert.deepEqual((await talk.state()).openCalls, []);
  });

  scenario("a message without a run waits in the log until run()", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("Now I do.")] });
    await talk.send("Listen first.", { run: false });
    await talk.until("message", { text: "Listen first." });
    assert.deepEqual(await talk.idle(), { status: "idle" });
    await talk.run();
    assert.equal((await talk.idle()).status, "finished");
    assert.deepEqual((await talk.heard("message")).map(({ role }) => role), ["user", "assistant"]);
  });

  scenario("messages may have several parts", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("Seen.")] });
    const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await talk.send([{ type: "text", text: "Look: " }, { type: "image", image_urls: [pixel] }, { type: "text", text: "there" }]);
    await talk.idle();
    const [message] = await talk.heard("message");
    assert.match(message.text, /Look: \s*there/);
    const [event] = (await talk.heard("event")).filter(({ kind }) => kind === "MessageEvent");
    assert.deepEqual(event.llm_message.content.map(({ type }) => type), ["text", "image", "text"]);
  });

  scenario("sixty calls in one answer, and sixty one by one, all run once and in order", async ({ server, lab }) => {
    const [batch, line] = [unique("batch"), unique("line")];
    const items = Array.from({ length: 60 }, (_, at) => `item ${at}`);
    const talk = await lab.start(server, {
      tools: [describe(batch), describe(line)],
      steps: [calls(...items.map((item) => [batch, { item }])), { ...call(line, { item: "item {i}" }), repeat: 60 }, finish("ok")],
    });
    assert.equal((await talk.turn()).status, "finished");
    for (const tool of [batch, line]) {
      assert.deepEqual((await talk.runs(tool)).map(({ args }) => args.item), items);
      assert.ok((await talk.outcomes(tool)).every(({ kind }) => kind === "ok"));
    }
  });

  scenario("arguments and results of half a megabyte pass", async ({ server, lab }) => {
    const big = unique("big");
    const item = "0123456789abcdé\n".repeat(32_768);
    const talk = await lab.start(server, { tools: [describe(big)], steps: [call(big, { item }), finish("ok")] });
    assert.equal((await talk.turn()).status, "finished");
    const [{ args }] = await talk.runs();
    assert.ok(args.item === item, `${args.item.length} of ${item.length} characters`);
    assert.ok((await talk.outcome(big)).result.echo.item === item);
  });

  scenario("the server's address may end with a slash, or name the host", async ({ server, lab }) => {
    for (const url of [`${server.url}/`, server.url.replace("127.0.0.1", "localhost")]) {
      const talk = await lab.start(server, { url, steps: [say("fine")] });
      assert.equal((await talk.turn()).status, "finished", url);
    }
  });
});
