// The demo, as a visitor uses it: the page of www/, with either protocol's scripted agent behind it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Demo } from "./support/demo.mjs";
import { TARGETS, start } from "./support/servers.mjs";
import { call, finish, unique } from "./support/steps.mjs";

const TEST_TASK = "Test: departures on the night the clocks go back";
const NEXT = "What should I work on next?";

/** @type {Demo} */ let demo;
before(async () => (demo = await Demo.open()));
after(() => demo?.close());

describe("the demo with OpenHands' agent", () => {
  /** @type {import("./support/demo.mjs").Visit} */ let visit;
  /** @type {import("playwright-core").Page} */ let page;
  before(async () => {
    visit = await demo.visit();
    ({ page } = visit);
  });

  test("a question makes the agent read the board, add a task that the visitor approves, and open a file", async () => {
    const before = await page.locator("[data-column=todo] .card").count();
    assert.ok(await page.getByRole("radio", { name: "OpenHands" }).isChecked());
    await visit.screenshot("1-before");

    await visit.say(NEXT);
    await page.locator(".bubble.is-user", { hasText: NEXT }).waitFor();
    await page.locator(".call.is-open", { hasText: "read_board_tasks" }).waitFor();
    await visit.screenshot("2-during");
    await visit.question.waitFor();
    assert.equal(await visit.question.getAttribute("data-asker"), "page", "this server asks nobody");
    assert.equal(await page.locator(".call.is-asking .call-word").innerText(), "confirming");
    assert.equal(await page.locator("#agent-status").getAttribute("data-state"), "waiting_for_confirmation");
    assert.equal(await visit.field("Title").inputValue(), TEST_TASK);
    await visit.screenshot("3-page-asks");
    await visit.question.getByRole("button", { name: "Approve" }).click();
    await visit.answered();
    await visit.screenshot("4-after");

    assert.deepEqual(await visit.calls(), ["read_board_tasks", "create_task", "open_file_viewer"]);
    assert.deepEqual(await visit.outcomes(), ["ok", "ok", "ok"]);
    assert.equal(await page.locator("[data-column=todo] .card").count(), before + 1);
    assert.equal((await visit.texts("[data-column=todo] .card-title"))[0], TEST_TASK);
    assert.ok(await page.locator("#viewer").isVisible());
    assert.match((await visit.texts("#viewer-path"))[0] ?? "", /clock-change\.md/);
    assert.match((await visit.texts(".bubble.is-assistant")).at(-1) ?? "", /Work on HB-7 next/);
    assert.match((await visit.texts(".ask.is-over"))[0] ?? "", /approved$/);
    assert.equal(await page.locator("#agent-status").getAttribute("data-state"), "finished");
  });

  test("a call with a wrong argument is refused by the page, and the agent mends it", async () => {
    await page.locator(".starters button", { hasText: "Start the most urgent task" }).click();
    await page.locator(".call.is-bad", { hasText: "move_task" }).waitFor();
    await page.locator('[data-column=doing] [data-task="HB-7"]').waitFor();
    await visit.answered();
    await visit.screenshot("5-refused");
    assert.deepEqual((await visit.outcomes()).slice(3), ["invalid_arguments", "ok"]);
    assert.match((await visit.texts(".call.is-bad .call-problem"))[0] ?? "", /\bto\b/);
  });

  test("starting over brings the board back and leaves nothing behind", async () => {
    await page.locator("#again").click();
    await page.locator('[data-column=todo] [data-task="HB-7"]').waitFor();
    await visit.answered();
    assert.equal(await page.locator(".call").count(), 0);
    assert.equal(await page.locator(".bubble, .ask").count(), 0);
    assert.ok(!(await page.locator("#viewer").isVisible()));
    assert.equal(await page.locator("#connection-status").getAttribute("data-state"), "ready");
  });

  test("a task that the visitor rejects is not created, and the agent is told the reason", async () => {
    const before = await visit.texts("[data-column=todo] .card-title");
    await page.locator(".starters button", { hasText: NEXT }).click();
    await visit.question.waitFor();
    await visit.field("Reason").fill("There is one already.");
    await visit.question.getByRole("button", { name: "Reject" }).click();
    await visit.answered();
    assert.deepEqual(await visit.outcomes(), ["ok", "rejected", "ok"]);
    assert.deepEqual(await visit.texts("[data-column=todo] .card-title"), before);
    assert.match((await visit.texts(".ask.is-over"))[0] ?? "", /rejected: There is one already\./);
    assert.match((await page.locator(".chat-report pre").allTextContents()).at(-1) ?? "", /"rejected".*There is one already\./);
  });

  test("a question that is moot closes", async () => {
    await page.locator("#again").click();
    await visit.answered();
    await page.locator(".starters button", { hasText: NEXT }).click();
    await visit.question.waitFor();
    const card = await visit.question.elementHandle();
    await page.locator("#again").click();
    await visit.answered();
    assert.ok(await card?.evaluate((card) => card.classList.contains("is-over") && !card.isConnected));
    assert.equal(await page.locator(".ask").count(), 0);
    assert.equal(await page.locator("#agent-status").getAttribute("data-state"), "idle");
  });

  test("the form leads to a real agent-server, whose agent works on the same board", async (t) => {
    const real = await start(TARGETS.real);
    t.after(() => real.stop());
    const script = unique("demo");
    const steps = [call("create_task", { title: "Sent by a real server" }), finish("One moment."), finish("It is on the board.")];
    await real.script(script, steps);
    await page.locator("#connect summary").click();
    const typed = { url: real.url, sessionKey: real.key, model: `openai/${script}`, apiKey: "unused", baseUrl: `${real.llm}/v1` };
    for (const [name, value] of Object.entries(typed)) await page.locator(`#connect [name=${name}]`).fill(value);
    await page.locator("#connect [type=submit]").click();
    await page.locator("#connect:not([open])").waitFor({ state: "attached" });
    await visit.answered();
    await visit.say("Put it on the board.");
    await visit.question.waitFor();
    await visit.question.getByRole("button", { name: "Approve" }).click();
    await page.locator(".call.is-ok", { hasText: "create_task" }).waitFor();
    await page.locator(".bubble.is-assistant", { hasText: "It is on the board." }).waitFor();
    await visit.answered();
    assert.equal((await visit.texts("[data-column=todo] .card-title"))[0], "Sent by a real server");
    await visit.screenshot("6-real-server");
    await page.locator("#connect summary").click();
    await page.locator(".connect-back").click();
    await page.locator(".call").waitFor({ state: "detached" });
    await visit.answered();
    assert.deepEqual(visit.complaints, []);
  });
});

describe("the demo with UiPath's agent", () => {
  /** @type {import("./support/demo.mjs").Visit} */ let visit;
  /** @type {import("playwright-core").Page} */ let page;
  before(async () => {
    visit = await demo.visit();
    ({ page } = visit);
  });

  test("the switch leads to it, and the address remembers", async () => {
    await page.locator('[data-task="HB-7"] .mover').click();
    await page.locator("#switch label", { hasText: "UiPath" }).click();
    await page.locator('[data-column=todo] [data-task="HB-7"]').waitFor();
    await visit.connected();
    await visit.answered();
    assert.equal(new URL(page.url()).searchParams.get("agent"), "uipath");
    await page.reload();
    await visit.connected();
    assert.ok(await page.getByRole("radio", { name: "UiPath" }).isChecked());
    await page.locator("#connect summary").click();
    const fields = await page.locator("#connect input").evaluateAll((all) => all.map((input) => /** @type {any} */ (input).name));
    assert.deepEqual(fields, ["url", "organization", "tenant", "token", "folderId", "agentReleaseId"]);
    await visit.screenshot("7-uipath-settings");
    await page.locator("#connect summary").click();
  });

  test("the agent proposes an order from the board as it is, and takes the visitor's version of its task", async () => {
    // The board has changed since the page was written: what the agent says must come from the call.
    await page.locator('[data-task="HB-11"] .mover[title$="Done"]').click();
    await visit.answered();
    await page.locator(".starters button", { hasText: NEXT }).click();
    await visit.question.waitFor();
    const [order] = await page.locator(".bubble ol.quoted").all();
    assert.deepEqual((await order.locator("li").allInnerTexts()).map((line) => line.split(":")[0]), ["HB-4", "HB-7", "HB-12", "HB-9", "HB-14"]);
    assert.equal(await visit.question.getAttribute("data-asker"), "agent");
    assert.equal(await page.locator(".call.is-asking .call-word").innerText(), "waiting");
    await visit.screenshot("8-agent-asks");

    await visit.field("Title").fill("No");
    await visit.field("Estimate").fill("0.7");
    await visit.question.getByRole("button", { name: "Approve with changes" }).click();
    await visit.question.locator(".field-problem:visible").nth(1).waitFor();
    const wrong = await visit.texts(".field-problem:visible");
    assert.match(wrong.join("\n"), /at least 3 characters[^]*multiple of 0\.5/);
    assert.equal(await page.evaluate(() => /** @type {any} */ (document.activeElement).value), "No", "the first wrong field has the focus");
    assert.equal(await visit.field("Title").getAttribute("aria-invalid"), "true");
    await visit.screenshot("9-edit-refused");

    await visit.field("Title").fill("Test the night of the clock change");
    await visit.field("Estimate").fill("1.5");
    await visit.field("Assignee").selectOption({ label: "AO" });
    await visit.question.getByRole("button", { name: "Approve with changes" }).click();
    await visit.answered();
    assert.equal((await visit.texts("[data-column=todo] .card-title"))[0], "Test the night of the clock change");
    assert.deepEqual(await visit.calls(), ["read_board_tasks", "create_task", "read_board_tasks", "open_file_viewer", "point_at_tasks"]);
    assert.deepEqual(await visit.outcomes(), ["ok", "ok", "ok", "ok", "ok"]);
    const said = await visit.texts(".bubble.is-assistant");
    assert.ok(said.some((text) => text.includes("executed_args") && text.includes("Test the night of the clock change")), "the agent knows of the change");
    assert.equal(new Set(said).size, said.length, "what streams in and what it ends as are one");

    await page.locator(".call", { hasText: "create_task" }).locator("summary").click();
    const edits = await page.locator(".call-edits li").evaluateAll((lines) =>
      lines.map((line) => ["code", "del", "ins"].map((part) => line.querySelector(part)?.textContent)));
    assert.deepEqual(edits.sort(), [
      ["assignee", '"ML"', '"AO"'],
      ["estimate", "0.5", "1.5"],
      ["title", `"${TEST_TASK}"`, '"Test the night of the clock change"'],
    ]);
    await visit.screenshot("10-edited");
  });

  test("a task that the visitor rejects is not created, and the agent goes on without it", async () => {
    await page.locator("#again").click();
    await visit.answered();
    await page.locator(".starters button", { hasText: NEXT }).click();
    await visit.question.waitFor();
    await visit.question.getByRole("button", { name: "Reject" }).click();
    await visit.answered();
    assert.deepEqual(await visit.outcomes(), ["ok", "rejected", "ok", "ok", "ok"]);
    assert.ok(!(await visit.texts("[data-column=todo] .card-title")).includes(TEST_TASK));
    assert.match((await visit.texts(".ask.is-over"))[0] ?? "", /rejected/);
    assert.match((await visit.texts(".bubble.is-assistant")).at(-1) ?? "", /Work on HB-7 next/);
    await visit.screenshot("11-rejected");
  });

  test("what went wrong in the page comes back to the agent, which mends it", async () => {
    await page.locator("#again").click();
    await visit.answered();
    await page.locator(".starters button", { hasText: "Start the most urgent task" }).click();
    await page.locator('[data-column=doing] [data-task="HB-7"]').waitFor();
    await visit.answered();
    assert.deepEqual(await visit.outcomes(), ["invalid_arguments", "ok"]);
    assert.match((await visit.texts(".bubble.is-assistant dl.quoted"))[0] ?? "", /do not fit the tool's input schema/);
    await page.locator(".starters button", { hasText: "What does the release still need?" }).click();
    await page.locator(".card.is-touched").nth(2).waitFor();
    await visit.answered();
    assert.deepEqual((await visit.outcomes()).slice(2), ["failed", "ok", "ok"]);
    assert.match((await visit.texts(".bubble.is-assistant dl.quoted"))[1] ?? "", /There is no file docs\/release-plan\.md/);
    assert.deepEqual(visit.complaints, []);
  });
});

describe("several questions at once", () => {
  const SCRIPT = "/mock/uipath/scripts/7";
  const ask = (/** @type {string} */ id, /** @type {object} */ input) => ({ id, name: "create_task", confirm: true, input });
  after(() => fetch(demo.server.url + SCRIPT, { method: "DELETE" }));

  test("each has a card and an answer of its own, and the focus goes from one to the other", async () => {
    const steps = [{ text: "Two tasks.", calls: [ask("a", { title: "The first" }), ask("b", { title: "The second", column: "soon" })] }, { text: "Done." }];
    await fetch(demo.server.url + SCRIPT, { method: "PUT", body: JSON.stringify({ steps }) });
    const visit = await demo.visit("/?agent=uipath");
    const { page } = visit;
    await visit.say("Two, please.");
    await visit.question.nth(1).waitFor();
    const [first, second] = [page.locator(".ask").nth(0), page.locator(".ask").nth(1)];
    await visit.screenshot("16-two-questions");
    // What the agent proposed is shown although the schema does not allow it, and is not let through.
    assert.equal(await second.getByLabel("Column").locator("option:checked").innerText(), '"soon" (not allowed)');
    await second.getByLabel("Title").fill("The second, mended");
    await page.keyboard.press("Enter");
    await second.locator(".field-problem:visible").waitFor();
    await second.getByLabel("Column").selectOption("doing");
    await second.getByRole("button", { name: "Approve with changes" }).press("Enter");
    await page.locator(".ask.is-over").waitFor();
    assert.equal(await first.evaluate((card) => card.contains(document.activeElement)), true);
    assert.match(await second.innerText(), /approved, with changes/);
    await first.getByRole("button", { name: "Reject" }).click();
    await visit.answered();
    assert.deepEqual(await visit.outcomes(), ["rejected", "ok"]);
    assert.equal((await visit.texts("[data-column=doing] .card-title"))[0], "The second, mended");
    assert.deepEqual(visit.complaints, []);
    await page.context().close();
  });
});

describe("the demo without a mouse, on small screens, and by night", () => {
  test("the whole story is played with the keyboard alone, and with less motion", async () => {
    const visit = await demo.visit("", { reducedMotion: "reduce" });
    const { page } = visit;
    const press = async (/** @type {string[]} */ ...keys) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focus = () => page.evaluate(() => {
      const at = /** @type {any} */ (document.activeElement);
      return at.labels?.[0]?.textContent?.trim() || at.getAttribute("aria-label") || at.textContent.trim();
    });
    /** Goes on with Tab until the focus is there. @param {string | RegExp} name @param {string} [key] */
    const reach = async (name, key = "Tab") => {
      for (let presses = 0; presses < 60; presses++) {
        await press(key);
        if ((await focus()).match(name)) return;
      }
      throw new Error(`${key} does not lead to ${name}`);
    };
    await reach(/^OpenHands/);
    await press("ArrowRight");
    assert.match(await focus(), /UiPath/);
    assert.equal(new URL(page.url()).searchParams.get("agent"), "uipath");
    await visit.connected();
    await visit.answered();
    await reach(/^Message to the assistant/);
    await page.keyboard.type(NEXT);
    await press("Enter");
    await visit.question.waitFor();
    assert.match(await focus(), /^Message to the assistant/, "a question does not take the focus by itself");
    await reach(/^Title/, "Shift+Tab");
    await press("Control+a");
    await page.keyboard.type("By keyboard");
    await reach(/^Approve with changes/);
    await press("Enter");
    await page.locator('.ask.is-over[data-answer="approved"]').waitFor();
    assert.match(await focus(), /^Message to the assistant/, "the focus of a card that has closed goes to the composer");
    await visit.answered();
    assert.equal((await visit.texts("[data-column=todo] .card-title"))[0], "By keyboard");

    await page.keyboard.type(NEXT);
    await press("Enter");
    await visit.question.waitFor();
    await reach(/^Reason for rejecting/, "Shift+Tab");
    await page.keyboard.type("One is enough.");
    await press("Enter");
    await page.locator('.ask.is-over[data-answer="rejected"]').waitFor();
    assert.match((await visit.texts(".ask.is-over"))[1] ?? "", /One is enough\./);
    await visit.answered();
    assert.deepEqual(visit.complaints, []);
    await page.context().close();
  });

  for (const [name, options] of /** @type {const} */ ([
    ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true }],
    ["phone-dark", { viewport: { width: 360, height: 740 }, colorScheme: "dark" }],
    ["tablet", { viewport: { width: 900, height: 1100 } }],
    ["desk-dark", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" }],
  ])) {
    test(`a question can be answered where the page looks like this: ${name}`, async () => {
      const visit = await demo.visit("/?agent=uipath", options);
      const { page } = visit;
      await visit.say(NEXT);
      await visit.question.waitFor();
      const approve = visit.question.getByRole("button", { name: "Approve" });
      await visit.question.scrollIntoViewIfNeeded();
      await visit.screenshot(`12-${name}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(width, 0, "nothing sticks out");
      const small = await visit.question.locator("input, select, button").evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().height < 34).map((one) => one.outerHTML));
      assert.deepEqual(small, [], "everything can be hit");
      await approve.click();
      await visit.answered();
      await visit.screenshot(`13-${name}`);
      assert.equal((await visit.texts("[data-column=todo] .card-title"))[0], TEST_TASK);
      assert.deepEqual(visit.complaints, []);
      await page.context().close();
    });
  }
});

describe("a form made from a JSON Schema", () => {
  const SCHEMA = {
    type: "object",
    required: ["name", "sure", "place", "when"],
    properties: {
      note: { type: ["string", "null"], maxLength: 500 },
      name: { $ref: "#/$defs/Name", description: "who" },
      sure: { type: "boolean" },
      maybe: { type: "boolean" },
      count: { type: "integer", exclusiveMinimum: 2, maximum: 8 },
      day: { anyOf: [{ type: "string", format: "date" }, { type: "null" }] },
      when: { type: "string", format: "date-time" },
      level: { oneOf: [{ const: 1, title: "low" }, { const: 2, title: "high" }] },
      tags: { type: "array", items: { type: "string" }, maxItems: 4 },
      ports: { type: "array", items: { type: "integer" } },
      place: { type: "object", required: ["city"], properties: { zip: { type: "string" }, city: { type: "string" } } },
      steps: { type: "array", items: { type: "object" } },
      tree: { $ref: "#/$defs/Tree" },
    },
    $defs: {
      Name: { type: "string", title: "A type's name", minLength: 2 },
      Tree: { type: "object", properties: { next: { $ref: "#/$defs/Tree" } } },
    },
  };
  const VALUE = { name: "Ada", sure: true, place: { city: "Ny" }, when: "2026-03-01T10:00:00+02:00", tags: ["a", "b"], steps: [{ x: 1 }], extra: 5 };
  /** @type {import("playwright-core").Page} */ let page;
  before(async () => ({ page } = await demo.visit()));

  /** Shows a form in the place of the page. */
  const show = (/** @type {object} */ schema, /** @type {object} */ value) =>
    page.evaluate(async ([schema, value]) => {
      const { SchemaForm } = await import(/** @type {string} */ ("/form.js"));
      const form = new SchemaForm(schema, value);
      Object.assign(window, { form });
      const holder = Object.assign(document.createElement("form"), { className: "ask ask-form" });
      holder.append(form.element);
      document.body.replaceChildren(holder);
    }, [schema, value]);
  const read = () => page.evaluate(() => /** @type {any} */ (window).form.read());
  const controls = () =>
    page.locator(".ask-form > .field > .field").evaluateAll((fields) =>
      Object.fromEntries(fields.map((field) => [field.querySelector("label, legend")?.firstChild?.textContent, field.getAttribute("data-kind")])));

  test("every kind of schema has its control, and what must be there comes first", async () => {
    await show(SCHEMA, VALUE);
    await page.locator(".field-more summary").click();
    await page.screenshot({ path: `${process.env.PAGEHAND_OUTPUT}/demo-14-form.png`, fullPage: true });
    assert.deepEqual(await controls(), {
      Name: "text", Sure: "boolean", When: "datetime-local", Place: "group", Tags: "list", Steps: "json", Extra: "number",
    });
    const more = await page.locator(".field-spare > .field").evaluateAll((all) => all.map((field) => field.getAttribute("data-kind")));
    assert.deepEqual(more, ["lines", "boolean", "number", "date", "choice", "list", "group"]);
    assert.equal(await page.getByLabel("Next").count(), 1, "a schema that contains itself ends");
    const order = Object.keys(await controls());
    assert.deepEqual(order.slice(0, 4).sort(), ["Name", "Place", "Sure", "When"]);
    const count = page.getByLabel("Count");
    assert.deepEqual([await count.getAttribute("min"), await count.getAttribute("max"), await count.getAttribute("step")], ["3", "8", "1"]);
  });

  test("what nobody touched comes back as it was", async () => {
    await show(SCHEMA, VALUE);
    assert.deepEqual(await read(), { value: VALUE, changed: false });
    const odd = { name: 7, sure: "yes", place: "Ny", when: "soon", tags: [{ a: 1 }], level: 3 };
    await show(SCHEMA, odd);
    assert.deepEqual(await read(), { value: odd, changed: false }, "what does not fit is shown, too");
  });

  test("what is typed has the schema's types", async () => {
    await show(SCHEMA, VALUE);
    await page.locator(".field-more summary").click();
    await page.getByLabel("Name").fill("Mika");
    await page.getByLabel("Sure").uncheck();
    await page.getByLabel("Maybe").selectOption("Yes");
    await page.getByLabel("Count").fill("4");
    await page.getByLabel("Day").fill("2026-04-01");
    await page.getByLabel("Level").selectOption("high");
    await page.getByLabel("Note").fill("two\nlines");
    await page.getByLabel("City").fill("Oslo");
    await page.getByLabel("Zip").fill("0150");
    await page.getByLabel("Extra").fill("");
    await page.getByLabel("Steps").fill('[{"x":2}]');
    await page.getByRole("button", { name: "Add to Tags" }).click();
    await page.keyboard.type("c");
    await page.locator(".field-rows li", { has: page.getByLabel("Tags, entry 1") }).getByRole("button").click();
    await page.getByRole("button", { name: "Add to Ports" }).click();
    await page.keyboard.type("80");
    assert.deepEqual(await read(), {
      changed: true,
      value: {
        name: "Mika", sure: false, maybe: true, count: 4, day: "2026-04-01", level: 2, note: "two\nlines", when: VALUE.when,
        place: { city: "Oslo", zip: "0150" }, steps: [{ x: 2 }], tags: ["b", "c"], ports: [80],
      },
    });
  });

  test("what cannot be read, and what the package refuses, is said at its field", async () => {
    await show(SCHEMA, VALUE);
    await page.getByLabel("Steps").fill("[");
    assert.equal(await read(), undefined);
    assert.match(await page.locator(".field-problem:visible").innerText(), /is no JSON/);
    await page.getByLabel("Steps").fill("[]");
    await page.evaluate(() => /** @type {any} */ (window).form.show([
      { path: "/place/city", keyword: "minLength", expected: 3, message: "is too short" },
      { path: "/tags/1", keyword: "pattern", expected: "x", message: "does not match" },
      { path: "", keyword: "maxProperties", expected: 3, message: "has too many" },
    ]));
    const invalid = await page.locator('[aria-invalid="true"]').evaluateAll((all) => all.map((one) => /** @type {any} */ (one).value));
    assert.ok(invalid.includes("Ny") && invalid.includes("b"));
    assert.deepEqual(await page.locator(".field-problem:visible").allInnerTexts(), ["✕ is too short", "✕ does not match", "✕ has too many"].map((text) => text.slice(2)));
    await show(SCHEMA, { ...VALUE, name: undefined });
    await read();
    await page.evaluate(() => /** @type {any} */ (window).form.show([{ path: "", keyword: "required", expected: ["name"], message: "the property name is missing" }]));
    assert.equal(await page.evaluate(() => document.activeElement?.id), await page.getByLabel("Name").getAttribute("id"));
  });
});

describe("a server that goes away", () => {
  test("is told to the visitor", async () => {
    const visits = [await demo.visit(), await demo.visit("/?agent=uipath")];
    await demo.server.stop();
    for (const { page } of visits) await page.locator('#connection-status[data-state="lost"]').waitFor();
    const [visit] = visits;
    await visit.say("Are you there?");
    await visit.page.locator(".chat-trouble").waitFor();
    await visit.screenshot("15-server-gone");
  });
});
