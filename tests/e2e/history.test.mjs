// The log of a conversation, and joining one that has a log already.
import assert from "node:assert/strict";
import { call, calls, finish, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const PATH = object({ path: { type: "string", minLength: 1 } });
const describe = (name, handler = "echo", more) => ({ name, description: `Does ${name}.`, inputSchema: PATH, handler, ...more });

/** All pages. @param {import("./support/talk.mjs").Talk} talk @param {object} options */
async function wholeHistory(talk, options) {
  const pages = [];
  for (let page; page !== null; ) {
    const { events, next } = await talk.history({ ...options, ...(page && { page }) });
    pages.push(events);
    assert.ok(pages.length < 50, "there is no end to the pages");
    page = next;
  }
  return pages;
}

on(["mock", "legacy", "real", "real143"], (scenario) => {
  scenario("history comes in pages, each event once, oldest or newest first", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, {
      tools: [describe(open)],
      steps: [call(open, { path: "1" }), call(open, { path: "2" }), say("done")],
    });
    await talk.turn("go");
    const pages = await wholeHistory(talk, { limit: 5 });
    assert.ok(pages.length > 1 && pages.slice(0, -1).every((page) => page.length === 5), String(pages.map((p) => p.length)));
    const ids = pages.flat().map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, await server.rest("GET", `/api/conversations/${talk.id}/events/count`));
    const kinds = pages.flat().map(({ kind }) => kind);
    assert.equal(kinds[0], "SystemPromptEvent");
    assert.equal(kinds.filter((kind) => kind === "ActionEvent").length, 2);
    const newest = await wholeHistory(talk, { limit: 7, order: "newest" });
    assert.deepEqual(newest.flat().map(({ id }) => id), ids.toReversed());
    const { events, next } = await talk.history();
    assert.deepEqual([events.length, next], [ids.length, null]);
    await assert.rejects(talk.history({ limit: 0 }), { code: "invalid_argument" });
  });

  scenario("a page that joins later runs nothing of the past, and everything from now on", async ({ server, lab, openPage }) => {
    const open = unique("open");
    const first = await lab.start(server, {
      tools: [describe(open)],
      steps: [call(open, { path: "old" }), finish("one"), call(open, { path: "new" }), finish("two")],
    });
    await first.turn();
    await first.close();

    const later = await openPage();
    const talk = await later.attach(server, first.id, { tools: [describe(open)] });
    assert.deepEqual([talk.id, talk.created], [first.id, false]);
    assert.deepEqual(talk.opened.tools.ready, [open]);
    const events = (await wholeHistory(talk, { limit: 5 })).flat();
    assert.ok(events.some((event) => event.kind === "ActionEvent" && event.tool_name === open));
    assert.deepEqual(await talk.runs(), [], "after joining");
    assert.equal((await talk.turn("again")).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path), ["new"]);
    assert.equal((await first.runs()).length, 1, "the page that left");
  });

  scenario("start() with the id of a conversation that exists joins it", async ({ server, lab, openPage }) => {
    const [open, script] = [unique("open"), unique("script")];
    const conversationId = crypto.randomUUID();
    const steps = [call(open, { path: "1" }), finish("one"), call(open, { path: "2" }), finish("two")];
    const first = await lab.start(server, { conversationId, script, steps, tools: [describe(open)] });
    assert.deepEqual([first.id, first.created], [conversationId, true]);
    await first.turn();
    await first.close();

    const page = await openPage();
    const talk = await page.start(server, { conversationId, script, tools: [describe(open)] });
    assert.deepEqual([talk.id, talk.created], [conversationId, false]);
    assert.deepEqual(await talk.runs(), []);
    await talk.turn();
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path), ["2"]);
  });

  scenario("a page that joins during a run takes over the calls to come", async ({ server, lab, openPage }) => {
    const [open, hold] = [unique("open"), unique("hold")];
    const first = await lab.start(server, {
      tools: [describe(open)],
      steps: [call(open, { path: "old" }), { ...calls([open, { path: "a" }], [open, { path: "b" }]), hold }, finish("ok")],
    });
    await first.send("go");
    await first.until("call", { tool: open, state: "settled" });
    await first.close();
    const page = await openPage();
    const talk = await page.attach(server, first.id, { tools: [describe(open)] });
    assert.equal(talk.opened.status, "running");
    const idle = talk.idle();
    await server.release(hold);
    assert.equal((await idle).status, "finished");
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path).toSorted(), ["a", "b"]);
  });

  scenario("tools are compared with those the server has", async ({ server, lab, openPage }) => {
    const [same, drifted, theirs, ours] = ["same", "drifted", "theirs", "ours"].map((word) => unique(word));
    const first = await lab.start(server, {
      tools: [describe(same), describe(drifted), describe(theirs)],
      steps: [call(drifted, { path: "long enough" }), call(drifted, { path: "x" }), call(theirs, { path: "x" }), finish("ok")],
    });
    await first.close();
    const page = await openPage();
    const stricter = object({ path: { type: "string", minLength: 3 } });
    const talk = await page.attach(server, first.id, {
      tools: [describe(same), describe(drifted, "echo", { inputSchema: stricter }), describe(ours)],
    });
    const { ready, missingHandlers, unknownToServer, differentSchema } = talk.opened.tools;
    assert.deepEqual({ ready, missingHandlers, unknownToServer, differentSchema }, {
      ready: [same],
      missingHandlers: [theirs],
      unknownToServer: [ours],
      differentSchema: [drifted],
    });
    await talk.turn();
    assert.deepEqual((await talk.outcomes(drifted)).map(({ kind }) => kind), ["ok", "invalid_arguments"], "ours counts");
    assert.equal((await talk.outcome(theirs)).kind, "missing_handler");
  });

  scenario("a tool without a handler gets one later", async ({ server, lab }) => {
    const open = unique("open");
    const talk = await lab.start(server, {
      tools: [describe(open, undefined)].map(({ handler, ...mute }) => mute),
      steps: [call(open, { path: "1" }), finish("one"), call(open, { path: "2" }), finish("two")],
    });
    await talk.turn();
    assert.equal((await talk.outcome(open)).kind, "missing_handler");
    await talk.declare(describe(open));
    assert.deepEqual((await talk.state()).tools.ready, [open]);
    await talk.turn();
    assert.deepEqual((await talk.runs()).map(({ args }) => args.path), ["2"]);
    const changed = { ...describe(open), inputSchema: object({ path: { type: "string" } }) };
    await assert.rejects(talk.declare(changed), ({ code, details }) => {
      assert.deepEqual([code, details.tool, details.place], ["tool_conflict", open, "here"]);
      return details.suggestion.startsWith(`${open}_`);
    });
  });
});
