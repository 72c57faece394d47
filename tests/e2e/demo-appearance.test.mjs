// The demo in each of its states: what it looks like, and that everybody can use it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { Demo } from "./support/demo.mjs";

const AXE = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const NEXT = "What should I work on next?";
/** The agent that plays this script has its number in the demo's address of UiPath's service. */
const SCRIPT = "/mock/uipath/scripts/7";

const LOOKS = /** @type {const} */ ({
  desk: { viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  "desk-dark": { viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true },
  "phone-dark": { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true },
});

/** @type {Demo} */ let demo;
before(async () => (demo = await Demo.open()));
after(() => demo?.close());

/** What axe finds wrong with the page as it stands. @param {import("playwright-core").Page} page */
async function faults(page) {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations, incomplete } = await /** @type {any} */ (globalThis).axe.run({ resultTypes: ["violations", "incomplete"] });
    const unsure = incomplete.filter((/** @type {any} */ { id }) => id !== "color-contrast");
    return [...violations, ...unsure].flatMap(({ id, nodes }) => nodes.map((/** @type {any} */ node) => `${id}: ${node.html}`));
  });
}

for (const [look, options] of Object.entries(LOOKS)) {
  describe(`the demo as ${look}`, () => {
    /** @param {import("./support/demo.mjs").Visit} visit @param {string} state */
    async function isFine(visit, state) {
      await visit.screenshot(`${state}-${look}`);
      assert.deepEqual(await faults(visit.page), [], state);
      const width = await visit.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(width, 0, `${state}: nothing sticks out`);
    }
    const visited = () => demo.visit("/?agent=uipath", { ...options, reducedMotion: "reduce" });

    test("axe finds nothing before, during and after a turn", async () => {
      const visit = await visited();
      const { page } = visit;
      await isFine(visit, "empty");
      await page.locator("#connect summary").click();
      await isFine(visit, "settings");
      await page.locator("#connect summary").click();
      await page.locator(".starters button", { hasText: NEXT }).click();
      await visit.question.waitFor();
      await visit.question.scrollIntoViewIfNeeded();
      await isFine(visit, "question");
      await visit.field("Title").fill("No");
      await visit.question.getByRole("button", { name: "Approve with changes" }).click();
      await visit.question.locator(".field-problem:visible").waitFor();
      await isFine(visit, "problem");
      await visit.field("Title").fill("Test the night of the clock change");
      await visit.question.getByRole("button", { name: "Approve with changes" }).click();
      await visit.answered();
      await page.locator(".call summary").first().click();
      await isFine(visit, "done");
      assert.deepEqual(visit.complaints, []);
      await page.context().close();
    });

    test("fifty calls can be read, and those that went wrong be found", async (t) => {
      t.after(() => fetch(demo.server.url + SCRIPT, { method: "DELETE" }));
      await fetch(demo.server.url + SCRIPT, { method: "PUT", body: JSON.stringify({ steps: [...fifty(), { text: "Done." }] }) });
      const visit = await visited();
      const { page } = visit;
      await visit.say("Go.");
      await page.locator(".bubble.is-assistant", { hasText: "Done." }).waitFor();
      await visit.answered();
      assert.equal(await page.locator(".call").count(), 50);
      await page.locator("#calls").scrollIntoViewIfNeeded();
      await isFine(visit, "fifty");

      const sieve = page.locator(".sieve");
      assert.deepEqual(await visit.texts(".sieve span"), ["All 50", "On their way 0", "Gone wrong 15"]);
      await sieve.getByRole("radio", { name: "All" }).focus();
      await page.keyboard.press("ArrowLeft");
      assert.equal(await page.locator(".call:visible").count(), 15);
      const outcomes = await visit.texts(".call:visible .call-word");
      assert.deepEqual([...new Set(outcomes)].sort(), ["failed", "invalid_arguments", "missing_handler"]);
      assert.equal((await page.locator(".call:visible .call-problem").allInnerTexts()).filter((text) => text.trim() === "").length, 0);
      await isFine(visit, "fifty-gone-wrong");
      await page.keyboard.press("ArrowLeft");
      await page.getByText("None of them.").waitFor();
      await page.locator("#again").click();
      await visit.answered();
      assert.equal(await sieve.isVisible(), false, "few calls need no choice");
      assert.deepEqual(visit.complaints, []);
      await page.context().close();
    });

    test("a part that cannot be loaded is told, and can be tried again", async () => {
      const visit = await demo.visitor({ ...options, reducedMotion: "reduce" });
      const { page } = visit;
      await page.route("**/pkg/*.wasm", (route) => route.abort());
      await page.goto(demo.server.url);
      await page.locator(".chat-trouble", { hasText: "A part of pagehand could not be loaded" }).waitFor();
      assert.ok(await page.locator(".composer button").isDisabled());
      await isFine(visit, "no-wasm");
      await page.unroute("**/pkg/*.wasm");
      await page.getByRole("button", { name: "Try again" }).click();
      await visit.connected();
      await visit.answered();
      await page.context().close();
    });
  });
}

test("with less motion nothing moves", async () => {
  const visit = await demo.visit("/?agent=uipath", { reducedMotion: "reduce" });
  const { page } = visit;
  await visit.say(NEXT);
  await visit.question.waitFor();
  const moving = await page.evaluate(() =>
    document.getAnimations().filter((animation) => animation.playState === "running" && Number(animation.effect?.getComputedTiming().duration) > 1).length);
  assert.equal(moving, 0);
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
  await page.context().close();
});

/** Fifty calls in five answers of the agent: of each ten, three go wrong. */
function fifty() {
  const answer = (/** @type {number} */ round) => [
    { name: "read_board_tasks", input: {} },
    { name: "move_task", input: { id: "HB-7", to: round % 2 ? "todo" : "doing" } },
    { name: "point_at_tasks", input: { ids: ["HB-4", "HB-9"] } },
    { name: "open_file_viewer", input: { path: "notes/clock-change.md" } },
    { name: "point_at_tasks", input: { ids: ["HB-4", "HB-7", "HB-9", "HB-12", "HB-14"] } },
    { name: "read_board_tasks", input: { format: "lines" } },
    { name: "point_at_tasks", input: { ids: ["HB-12"] } },
    { name: "move_task", input: { id: "HB-7", to: "the far end of the board" } },
    { name: "open_file_viewer", input: { path: "docs/release-plan.md" } },
    { name: "archive_board", input: {} },
  ];
  return [1, 2, 3, 4, 5].map((round) => ({ text: `Round ${round}.`, calls: answer(round).map((call, at) => ({ id: `${round}-${at}`, ...call })) }));
}
