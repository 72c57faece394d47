// What it costs to join a long conversation, beside a client that loads all of it.
import assert from "node:assert/strict";
import { say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const EVENTS = 10_000;

/** In the page: reads the whole log in pages of a hundred before it shows anything, as clients without a window do. */
const LOAD_ALL = `
  let requests = 0;
  let events = 0;
  const start = performance.now();
  for (let page = ""; page !== null; ) {
    const query = "?limit=100" + (page && "&page_id=" + page);
    const answer = await fetch(url + "/api/conversations/" + id + "/events/search" + query, {
      headers: { "X-Session-API-Key": key },
    });
    const { items, next_page_id } = await answer.json();
    requests += 1;
    events += items.length;
    page = next_page_id ?? null;
  }
  console.log(requests, events, performance.now() - start);
`;

on(["mock", "legacy"], (scenario) => {
  scenario("joining a conversation of ten thousand events takes as few requests as joining a short one", async (scene) => {
    const { server, lab, openPage } = scene;
    const tools = [{ name: unique("open"), description: "Opens.", handler: "echo" }];
    const first = await lab.start(server, { tools, steps: [say("fine"), say("still fine")] });
    await first.turn();
    await first.close();
    await server.fill(first.id, EVENTS);

    const page = await openPage();
    // The code is loaded before the clock starts, since the other client has none to load.
    await (await page.start(server)).close();
    const sent = () => page.urls.filter((url) => url.startsWith(server.url)).length;
    const before = sent();
    const start = performance.now();
    // This browser was there: without a limit what happened since would be its own.
    const talk = await page.attach(server, first.id, { tools, resumeWithin: 0 });
    const took = performance.now() - start;
    const requests = sent() - before;

    const [[allRequests, allEvents, allTook]] = await page.program(LOAD_ALL, { url: server.url, key: server.key, id: first.id });
    assert.ok(allEvents >= EVENTS, `${allEvents} events`);
    const row = (...cells) => cells.map((cell, at) => (at === 0 ? String(cell).padEnd(28) : String(cell).padStart(14))).join("");
    console.log(
      [
        `Joining a conversation of ${allEvents} events (${server.name})`,
        row("", "requests", "milliseconds"),
        row("attach()", requests, Math.round(took)),
        row("all events, in pages of 100", allRequests, Math.round(Number(allTook))),
      ].join("\n"),
    );
    assert.ok(requests <= 6, `${requests} requests`);
    assert.equal((await talk.turn()).status, "finished", "the conversation is usable");
    assert.deepEqual(await talk.runs(), []);
  });
});
