// Many calls, several tabs, and reloads at moments that nobody chose. PAGEHAND_CALLS is how many, PAGEHAND_SEED which moments.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { call, object, say, unique } from "./support/steps.mjs";
import { on } from "./support/suite.mjs";

const CALLS = Number(process.env.PAGEHAND_CALLS ?? 200);
const SEED = Number(process.env.PAGEHAND_SEED ?? 1);
const TABS = 5;
/** How long all of it may take. In milliseconds. */
const PATIENCE = 220_000;
/** Of so many runs one is followed by the reload of some tab. */
const RELOADS = 16;
/** Of so many calls one is still running when its tab is reloaded. */
const CAUGHT = 20;
/** The agent waits after so many calls until nearly all of them have begun: a page may take a call with it before. */
const BATCH = 10;
const NEARLY = BATCH - 2;
/** Or until none has begun for so long, in milliseconds: those that a page took with it never begin. */
const LULL = 2_000;

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

/** Asks until it is so. @param {() => Promise<boolean>} so */
async function eventually(so) {
  const deadline = Date.now() + PATIENCE;
  while (!(await so())) {
    if (Date.now() > deadline) throw new Error("it takes too long");
    await pause(100);
  }
}

/**
 * Tries again what may be tried again, as an app does: while 1.43 writes its state, reading it ends in an internal error.
 * @template T @param {() => Promise<T>} work @returns {Promise<T>}
 */
async function persistently(work) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!error.retryable || Date.now() > deadline) throw error;
      await pause(100);
    }
  }
}

on(["mock", "real", "real143"], (scenario) => {
  scenario(`${CALLS} calls in ${TABS} tabs that are reloaded: none runs twice, none is lost`, async (scene) => {
    const { server, lab, openPage, runs, onEnd } = scene;
    const next = numbers(SEED);
    const [quick, endless, hold] = [unique("quick"), unique("endless"), unique("hold")];
    const tools = [describe(quick, "fetches"), describe(endless, "never")];
    const steps = Array.from({ length: CALLS }, (_, at) => {
      const tool = next(CAUGHT) === 0 ? endless : quick;
      return call(tool, { item: `item ${at}` }, at > 0 && at % BATCH === 0 ? { hold: `${hold}_${at}` } : {});
    });
    const first = await lab.start(server, { tools, steps: [...steps, say("done")] });
    /** @param {import("./support/page.mjs").Lab} page */
    const attach = (page) => persistently(() => page.attach(server, first.id, { tools }));
    const join = async () => {
      const page = await openPage();
      return { lab: page, talk: await attach(page), ready: Promise.resolve() };
    };
    const tabs = [{ lab, talk: first, ready: Promise.resolve() }, ...(await Promise.all(Array.from({ length: TABS - 1 }, join)))];
    let reloads = 0;
    let released = 0;
    const release = () => void server.release(`${hold}_${(released += BATCH)}`);
    /** @type {NodeJS.Timeout | undefined} */
    let lull;
    onEnd(() => clearTimeout(lull));
    runs.each(({ tool, page }) => {
      clearTimeout(lull);
      if (runs.all.length >= released + NEARLY) release();
      else lull = setTimeout(release, LULL);
      const tab = tool === endless ? tabs.find((tab) => tab.lab.name === page) : next(RELOADS) === 0 && tabs[next(TABS)];
      if (!tab) return;
      tab.ready = tab.ready.then(async () => {
        await tab.lab.reload();
        tab.talk = await attach(tab.lab);
        reloads += 1;
      });
    });

    await first.send("go");
    await eventually(async () => {
      await Promise.all(tabs.map(({ ready }) => ready));
      // A page that is being reloaded does not answer.
      const states = await Promise.all(tabs.map(({ talk }) => talk.state().catch(() => undefined)));
      return states.every((state) => state?.status === "finished" && state.openCalls.length === 0);
    });
    await Promise.all(tabs.map(({ ready }) => ready));

    const acknowledged = (await server.log(first.id)).filter(({ observation }) => observation?.kind === "ClientToolObservation");
    assert.equal(acknowledged.length, CALLS);
    /** @type {Map<string, Set<string>>} How each call ended, as the tabs tell it, and the ledger. */
    const outcomes = new Map();
    /** @param {string} id @param {string} kind */
    const ended = (id, kind) => void outcomes.set(id, (outcomes.get(id) ?? new Set()).add(kind));
    for (const { topic, value } of (await Promise.all(tabs.map((tab) => tab.lab.tapes()))).flat().flatMap(({ tape }) => tape)) {
      if (topic === "call" && value.state === "settled") ended(value.callId, value.outcome.kind);
    }
    // What a tab tells in its last moments is on no tape.
    for (const { subject, outcome } of await lab.run("stored")) {
      if (outcome) ended(subject.replace(/^call /, ""), JSON.parse(outcome).kind);
    }
    const began = new Set(runs.all.map(({ callId }) => callId));
    const calls = acknowledged.map(({ action_id: id }) => ({ began: began.has(id), kinds: [...(outcomes.get(id) ?? [])] }));
    const interrupted = calls.filter(({ kinds }) => kinds.includes("interrupted"));
    // Its page ended between the claim and the handler: nobody can know how far it came.
    const unbegun = interrupted.filter(({ began }) => !began).length;
    const duplicates = runs.all.length - began.size;
    const lost = calls.filter(({ began, kinds }) => kinds.length === 0 || !(began || kinds.includes("interrupted"))).length;
    console.log(
      `${server.name}: ${TABS} tabs, ${CALLS} calls, ${reloads} reloads, seed ${SEED}: handler runs = ${runs.all.length}, ` +
        `duplicates = ${duplicates}, lost = ${lost}, interrupted = ${interrupted.length}, of them before they began = ${unbegun}, ` +
        `after they ended = ${interrupted.filter(({ kinds }) => kinds.includes("ok")).length}`,
    );
    assert.deepEqual([runs.all.length + unbegun, duplicates, lost], [CALLS, 0, 0]);
    assert.ok(interrupted.length >= runs.of(endless).length, `${interrupted.length} calls were interrupted`);
    // A page that ends right after a handler takes the outcome with it; to all others the call is interrupted.
    const strange = calls.filter(({ kinds }) => kinds.some((kind) => kind !== "ok" && kind !== "interrupted"));
    assert.deepEqual(strange, []);
  });
});
