// What a page still holds after ten thousand events, and after a thousand conversations. Prints tables.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { growth, keepMemories, table, usageOf } from "./support/memory.mjs";
import { call, calls, finish, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const SCRIPT = "/endurance.js";

/** Each turn has so many calls, and then there are events up to the next thousand. */
const [TURNS, CALLS] = [10, 300];
/** Events that are given to the server at once. */
const LANES = 8;

/** The ids of the latest 4096 events are remembered. After so many thousand, what is added would be added for ever. */
const FULL = 5;

/**
 * Bytes that an event may add. One that is kept adds 300 and more to either heap. Three events in ten end a call: its name is kept.
 * WebAssembly's memory comes in pages, and how they are used differs from run to run: nine are 118 bytes for each of 5000 events.
 */
const PER_EVENT = { js: 20, wasm: 120 };

/**
 * Bytes that a cycle may add. A conversation that is kept adds 4000 and more to the heap of JavaScript, and 1500 and more to that of
 * WebAssembly. Engines keep compiled code, and the debugger keeps some 10 bytes of each request, of which a cycle has as many.
 */
const PER_CYCLE = { js: 600, wasm: 220 };

on(["mock"], (scenario) => {
  scenario("memory is flat over ten thousand events of a conversation", async ({ server, openPage }) => {
    const page = await openPage({ before: keepMemories });
    const tool = unique("work");
    // Many calls in an answer: the server's statistics have a line for each answer, and come as a whole with each of them.
    const items = Array.from({ length: CALLS }, (_, at) => [tool, { item: `item ${at}` }]);
    await server.script(tool, Array.from({ length: TURNS }, () => [calls(...items), finish("ok")]).flat());
    const id = await page.call(SCRIPT, "follow", addressOf(server), tool, optionsOf(server, tool));

    let said = 0;
    const rows = [];
    for (let turn = 1; turn <= TURNS; turn += 1) {
      assert.equal(await page.call(SCRIPT, "turn"), "finished");
      const { events } = await page.call(SCRIPT, "until", "calls", turn * CALLS);
      const last = said + turn * 1_000 - events;
      const lane = async () => {
        while (said < last) await server.emit(id, message((said += 1)));
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      await page.call(SCRIPT, "until", "events", turn * 1_000);
      rows.push([`${turn * 1_000} events`, await usageOf(page, rows[0]?.[1])]);
    }
    const { runs, ok } = await page.call(SCRIPT, "until", "events", TURNS * 1_000);
    assert.deepEqual([runs, ok], [TURNS * CALLS, TURNS * CALLS]);

    console.log(table(`One conversation with ${TURNS * CALLS} calls`, rows));
    const [[, full], [, last]] = [rows[FULL - 1], rows[TURNS - 1]];
    assertFlat(growth(full, last, (TURNS - FULL) * 1_000), PER_EVENT);
    for (const what of ["listeners", "observers", "locks", "places"]) assert.ok(last[what] <= rows[0][1][what], `${last[what]} ${what}`);
    assert.equal(last.entries, TURNS * CALLS, "the ledger has one entry for each call");
  });

  scenario("a thousand conversations that were closed leave nothing behind", async ({ server, openPage }) => {
    const page = await openPage({ before: keepMemories });
    const [tool, other] = [unique("work"), unique("other")];
    await server.script(tool, Array.from({ length: 100 }, () => [call(tool, { item: "x" }), finish("ok")]).flat());
    await server.script(other, [say("fine")]);
    const id = await page.call(SCRIPT, "follow", addressOf(server), tool, optionsOf(server, other));
    const kinds = ["start", "attach", "miss", "attach", "attach", "abort", "attach", "attach", "attach", "attach"];
    const given = { id, tool, options: optionsOf(server, tool) };
    const rows = [];
    // That of the conversation that is open is not counted.
    await server.sockets();
    let [opened, open] = [0, 0];
    const openSockets = async () => {
      const counted = await server.sockets();
      opened += counted.opened;
      return (open += counted.opened - counted.closed);
    };
    for (let cycles = 100; cycles <= 1_000; cycles += 100) {
      await page.call(SCRIPT, "cycles", kinds, 100, addressOf(server), given);
      rows.push([`${cycles} cycles`, { ...(await usageOf(page, rows[0]?.[1])), sockets: await openSockets() }]);
    }
    // The server hears of a close a little later.
    const deadline = Date.now() + 10_000;
    while ((await openSockets()) > 0 && Date.now() < deadline) await pause(40);

    console.log(table("Conversations that were opened and closed", rows));
    const [[, first], [, last]] = [rows[0], rows[rows.length - 1]];
    assert.deepEqual([open, opened >= 800], [0, true], `${open} of ${opened} sockets are open`);
    for (const what of ["listeners", "observers", "locks"]) assert.ok(last[what] <= first[what], `${last[what]} ${what}`);
    assertFlat(growth(first, last, 900), PER_CYCLE);
    const { runs, ok } = await page.call(SCRIPT, "until", "calls", 100);
    assert.deepEqual([runs, ok], [100, 100]);
    assert.deepEqual([last.entries, last.places], [100, 101], "the ledger has the calls, and a place for each conversation");
  });
});

/** @param {{ js: number, wasm: number }} bytes @param {{ js: number, wasm: number }} limits */
function assertFlat(bytes, limits) {
  for (const heap of /** @type {const} */ (["js", "wasm"])) {
    assert.ok(bytes[heap] <= limits[heap], `${bytes[heap].toFixed(1)} bytes of ${heap} each, where ${limits[heap]} are allowed`);
  }
}

/** @param {import("./support/servers.mjs").AgentServer} server */
const addressOf = ({ url, key }) => ({ url, sessionKey: key });

/** @param {import("./support/servers.mjs").AgentServer} server @param {string} script */
const optionsOf = (server, script) => ({ agent: server.agent(script), workspace: "project", autotitle: false, stuck_detection: false });

/** @param {number} number */
function message(number) {
  const content = [{ type: "text", text: `Message ${number}: a sentence as an agent writes it.` }];
  const id = `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  return { kind: "MessageEvent", id, source: "agent", timestamp: "2026-01-01T00:00:00", llm_message: { role: "assistant", content } };
}
