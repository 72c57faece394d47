// What runs of the app's has a signal that aborts with the call, and with the core.
import assert from "node:assert/strict";
import { load, testInside } from "./help.mjs";

/** What the signal of something that runs says, once `end` has been called. */
async function reasonAfter(end, signal) {
  const { Runs } = await load("runs.js");
  const runs = new Runs();
  return runs.begin(signal, async (own) => {
    end(runs);
    return own.reason;
  });
}

testInside("what runs is aborted with its call", async () => {
  const call = new AbortController();
  assert.equal(await reasonAfter(() => call.abort("cancelled"), call.signal), "cancelled");
});

testInside("what begins when its call has ended is aborted from the start", async () => {
  assert.equal(await reasonAfter(() => {}, AbortSignal.abort("closed")), "closed");
});

testInside("what runs is aborted when the core is lost", async () => {
  assert.equal(await reasonAfter((runs) => runs.abort("lost"), new AbortController().signal), "lost");
});
