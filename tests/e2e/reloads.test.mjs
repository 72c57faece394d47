// Many calls, several tabs, and reloads at moments that nobody chose. PAGEHAND_CALLS is how many, PAGEHAND_SEED which moments.
import assert from "node:assert/strict";
import { call, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const CALLS = Number(process.env.PAGEHAND_CALLS ?? 200);
const SEED = Number(process.env.PAGEHAND_SEED ?? 1);
const TABS = 5;
/** Of so many runs one is followed by the reload of some tab. */
const RELOADS = 16;
/** Of so many calls one is still running when its tab is reloaded. */
const CAUGHT = 20;
/** How long the agent thinks before each call, so that a turn is long enough to be in the middle of it. In milliseconds. */
const PACE = 25;

const describe = (name, handler) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: object({ item: { type: "string" } }),
  handler,
});

/** Whole numbers below a bound, the same for the same seed. @param {number} seed */
function numbers(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

on(["mock", "real", "real143"], (scenario) => {
  scenario(`${CALLS} calls in ${TABS} tabs that are reloaded: none runs twice, none is lost`, async (scene) => {
    const { server, lab, openPage, runs } = scene;
    const next = numbers(SEED);
    const [quick, endless, hold] = [unique("quick"), unique("endless"), unique("hold")];
    const tools = [describe(quick, "fetches"), describe(endless, "never")];
    const steps = Array.from({ length: CALLS }, (_, at) => {
      const tool = next(CAUGHT) === 0 ? endless : quick;
      return call(tool, { item: `item ${at}` }, { delay_ms: PACE });
    });
    const first = await lab.start(server, { tools, steps: [...steps, say("done", { hold })] });
    const join = async () => {
      const page = await openPage();
      return { lab: page, talk: await page.attach(server, first.id, { tools }), ready: Promise.resolve() };
    };
    const tabs = [{ lab, talk: first, ready: Promise.resolve() }, ...(await Promise.all(Array.from({ length: TABS - 1 }, join)))];
    let reloads = 0;
    /** @param {typeof tabs[number]} tab */
    const reload = (tab) => {
      tab.ready = tab.ready.then(async () => {
        await tab.lab.reload();
        tab.talk = await tab.lab.attach(server, first.id, { tools });
        reloads += 1;
      });
    };

    await first.send("go");
    for (let seen = 0; seen < CALLS; seen += 1) {
      const run = await runs.until((all) => all[seen]);
      if (run.tool === endless) reload(/** @type {any} */ (tabs.find((tab) => tab.lab.name === run.page)));
      else if (next(RELOADS) === 0) reload(/** @type {any} */ (tabs[next(TABS)]));
    }
    await Promise.all(tabs.map(({ ready }) => ready));
    await server.release(hold);
    for (const { talk } of tabs) {
      // A tab that joined at the end has nothing to tell about it.
      if ((await talk.state()).status !== "finished") await talk.until("status", { status: "finished" });
      await talk.idle();
    }

    const acknowledged = (await server.log(first.id)).filter(({ observation }) => observation?.kind === "ClientToolObservation");
    assert.equal(acknowledged.length, CALLS);
    /** @type {Map<string, Set<string>>} How each call ended, as the tabs tell it. */
    const outcomes = new Map();
    for (const tape of await Promise.all(tabs.map((tab) => tab.lab.tapes()))) {
      for (const { topic, value } of tape.flatMap(({ tape }) => tape)) {
        if (topic !== "call" || value.state !== "settled") continue;
        outcomes.set(value.callId, (outcomes.get(value.callId) ?? new Set()).add(JSON.stringify(value.outcome)));
      }
    }
    const times = new Map();
    for (const { callId } of runs.all) times.set(callId, (times.get(callId) ?? 0) + 1);
    const duplicates = [...times.values()].filter((count) => count > 1).length;
    const lost = acknowledged.filter(({ action_id: id }) => !times.has(id) || !outcomes.has(id)).length;
    const disputed = [...outcomes].filter(([, told]) => told.size > 1);
    const kinds = [...outcomes.values()].flatMap((told) => [...told]).map((outcome) => JSON.parse(outcome).kind);
    const interrupted = kinds.filter((kind) => kind === "interrupted").length;
    console.log(
      `${server.name}: ${TABS} tabs, ${CALLS} calls, ${reloads} reloads, seed ${SEED}: handler runs = ${runs.all.length}, ` +
        `duplicates = ${duplicates}, lost = ${lost}, interrupted = ${interrupted}`,
    );
    assert.deepEqual([runs.all.length, duplicates, lost], [CALLS, 0, 0]);
    assert.deepEqual(disputed, [], "one call, one outcome");
    assert.deepEqual(kinds.filter((kind) => kind !== "ok" && kind !== "interrupted"), []);
    assert.ok(interrupted >= runs.of(endless).length, `${interrupted} calls were interrupted`);
  });
});
