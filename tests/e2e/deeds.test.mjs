// What a server can do with a conversation beside letting it speak.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { call, finish, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const describe = (name, handler = "echo") => ({ name, description: `Does ${name}.`, handler });

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("an agent that is interrupted stops, and goes on when it is told to", async ({ server, lab }) => {
    const [one, hold] = [unique("one"), unique("hold")];
    const talk = await lab.start(server, {
      tools: [describe(one)],
      steps: [call(one), say("never heard", { hold }), say("again")],
    });
    await talk.send("go");
    await talk.until("call", { tool: one, state: "settled" });
    await talk.ask("interrupt");
    assert.equal((await talk.idle()).status, "paused");
    await server.release(hold);
    assert.equal((await talk.turn("go on")).status, "finished");
    assert.equal((await talk.runs()).length, 1);
  });

  scenario("conformance 28: a pause during the agent's thinking lets its call through once", async ({ server, lab }) => {
    const [one, hold] = [unique("one"), unique("hold")];
    const talk = await lab.start(server, { tools: [describe(one)], steps: [call(one, {}, { hold }), finish("ok")] });
    await talk.send("go");
    await talk.until("status", { status: "running" });
    await talk.ask("pause");
    await talk.until("status", { status: "paused" });
    await server.release(hold);
    await talk.until("call", { tool: one, state: "settled" });
    assert.equal((await talk.runs()).length, 1);
    await talk.run();
    assert.equal((await talk.idle()).status, "finished");
    assert.equal((await talk.runs()).length, 1);
  });

  scenario("case 30: a fork is opened with the same tools, and its calls are its own", async ({ server, lab }) => {
    const one = unique("one");
    const talk = await lab.start(server, { tools: [describe(one)], steps: [call(one), say("done")] });
    await talk.turn();
    const fork = await talk.fork({ title: "a copy" });
    assert.notEqual(fork.id, talk.id);
    assert.deepEqual(fork.opened.tools.ready, [one]);
    const { events } = await fork.history();
    const { events: original } = await talk.history();
    const ids = (list) => list.filter(({ kind }) => kind === "ActionEvent").map(({ id }) => id);
    assert.deepEqual(ids(events), ids(original));
    assert.equal((await talk.runs()).length, 1);
    assert.equal((await fork.runs()).length, 0);
  });

  scenario("a title and tags are changed, and found in the list", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [finish("ok")] });
    await talk.ask("update", { title: "Fresh paint", tags: { board: "1" } });
    const { conversations } = await lab.list(server, { limit: 50, order: "CREATED_AT_DESC" });
    const found = conversations.find(({ id }) => id.replaceAll("-", "") === talk.id.replaceAll("-", ""));
    assert.deepEqual([found?.title, found?.tags.board], ["Fresh paint", "1"]);
  });

  scenario("the list comes in pages", async ({ server, lab }) => {
    await lab.start(server, { steps: [finish("ok")] });
    await lab.start(server, { steps: [finish("ok")] });
    const first = await lab.list(server, { limit: 1 });
    assert.equal(first.conversations.length, 1);
    assert.ok(first.next);
    const second = await lab.list(server, { limit: 1, page: first.next });
    assert.notEqual(second.conversations[0].id, first.conversations[0].id);
  });

  scenario("a deleted conversation is closed, and is not found again", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [finish("ok")] });
    await talk.turn();
    await talk.ask("delete");
    await talk.until("connection", { state: "closed" });
    await assert.rejects(talk.send("hello?"), { code: "closed" });
    await assert.rejects(lab.attach(server, talk.id), { code: "not_found" });
  });

  scenario("the agent answers a question beside the conversation", async ({ server, lab }) => {
    // The stand-in has no model to be asked: its script says what it would answer.
    const because = server.isMock ? { reply: "because" } : say("because");
    const talk = await lab.start(server, { steps: [say("one"), because] });
    await talk.turn();
    const events = (await talk.heard("event")).length;
    assert.equal(await talk.ask("ask", "why?"), "because");
    assert.deepEqual((await talk.heard("message")).map(({ text }) => text), ["go on", "one"]);
    assert.ok((await talk.heard("event")).length - events <= 1, "at most the statistics");
  });

  scenario("what the agent sees can be wound back", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("one"), say("two")] });
    await talk.turn();
    const { events } = await talk.history();
    const message = events.find(({ kind }) => kind === "MessageEvent");
    await talk.ask("navigate", message.id);
    assert.equal((await talk.turn("again")).status, "finished");
    await assert.rejects(talk.ask("navigate", randomUUID()), { code: "not_found" });
  });

  scenario("condensing without a condenser is an error with a code", async ({ server, lab }) => {
    const talk = await lab.start(server, { steps: [say("one")] });
    await talk.turn();
    await assert.rejects(talk.ask("condense"), (error) => ["conflict", "server_error", "unreachable"].includes(error.code));
    assert.equal((await talk.turn("still there?")).status, "finished");
  });

  scenario("another model takes over", async ({ server, lab }) => {
    const other = unique("other");
    await server.script(other, [say("it is me now")]);
    const talk = await lab.start(server, { steps: [say("one")] });
    await talk.turn();
    // Servers keep a model under its use: another one needs another name.
    await talk.ask("switchLlm", { ...server.agent(other).llm, usage_id: other });
    await talk.turn("who is it?");
    assert.equal((await talk.heard("message")).at(-1).text, "it is me now");
  });

  scenario("outcomes go back as one marked message, once", async ({ server, lab }) => {
    const [one, two] = [unique("one"), unique("two")];
    const talk = await lab.start(server, {
      results: "message",
      tools: [describe(one), describe(two, "throws")],
      steps: [call(one, {}), call(two, {}), say("first"), say("second")],
    });
    await talk.turn();
    const messages = await talk.heard("message");
    const told = messages.filter(({ text }) => text.startsWith("[client tool results]"));
    assert.equal(told.length, 1);
    // In the order in which they ended.
    assert.match(told[0].text, new RegExp(`\\n${one} \\S+: {"kind":"ok",`));
    assert.match(told[0].text, new RegExp(`\\n${two} \\S+: {"kind":"failed","code":"handler_threw"`));
    assert.deepEqual(messages.slice(-1).map(({ text }) => text), ["second"]);
  });
});
