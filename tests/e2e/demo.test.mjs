// The demo, as a visitor uses it: the page of www/, served by the stand-in server that also plays its agent.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { output, pkg } from "./support/environment.mjs";
import { Browser, POLICY } from "./support/site.mjs";
import { TARGETS, start } from "./support/servers.mjs";
import { call, finish, unique } from "./support/steps.mjs";

const WWW = fileURLToPath(new URL("../../www/", import.meta.url));
/** A turn is long: the agent writes at the speed of a reader, and the page takes its time to show what it does. */
const TURN = 30_000;

describe("the demo", () => {
  const folder = mkdtempSync(join(tmpdir(), "pagehand-demo-"));
  /** @type {string[]} What the browser had to say about the page. */
  const complaints = [];
  /** @type {Browser} */ let browser;
  /** @type {import("./support/servers.mjs").AgentServer} */ let server;
  /** @type {import("playwright-core").Page} */ let page;

  before(async () => {
    cpSync(WWW, folder, { recursive: true });
    cpSync(pkg, join(folder, "pkg"), { recursive: true });
    const options = ["--static", folder, "--scripts", join(WWW, "script.json"), "--csp", POLICY];
    [browser, server] = await Promise.all([Browser.launch(), start(TARGETS.mock, { key: "", options })]);
    const profile = await browser.profile({ viewport: { width: 1440, height: 900 } });
    page = await profile.newPage();
    page.on("console", (line) => ["error", "warning"].includes(line.type()) && complaints.push(line.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.setDefaultTimeout(TURN);
    await page.goto(server.url);
    await page.locator('#connection-status[data-state="ready"]').waitFor();
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const screenshot = (name) => page.screenshot({ path: join(output, `demo-${name}.png`) });
  const texts = (selector) => page.locator(selector).allInnerTexts();
  /** Until the page takes the next question. */
  const answered = () => page.locator(".composer button:enabled").waitFor();
  const outcomes = async () => (await texts(".call .call-word")).toReversed();

  test("a question makes the agent read the board, add a task and open a file", async () => {
    const before = await page.locator("[data-column=todo] .card").count();
    await screenshot("1-before");

    await page.locator("#question").fill("What should I work on next?");
    await page.keyboard.press("Enter");
    await page.locator(".bubble.is-user", { hasText: "What should I work on next?" }).waitFor();
    await page.locator(".call.is-open", { hasText: "read_board_tasks" }).waitFor();
    await screenshot("2-during");
    await page.locator(".call.is-ok").nth(2).waitFor();
    await answered();
    await screenshot("3-after");

    assert.deepEqual((await texts(".call .call-tool")).toReversed(), ["read_board_tasks", "create_task", "open_file_viewer"]);
    assert.deepEqual(await outcomes(), ["ok", "ok", "ok"]);
    assert.equal(await page.locator("[data-column=todo] .card").count(), before + 1);
    const [title] = await texts("[data-column=todo] .card-title");
    assert.equal(title, "Test: departures on the night the clocks go back");
    assert.ok(await page.locator("#viewer").isVisible());
    assert.match((await texts("#viewer-path"))[0] ?? "", /clock-change\.md/);
    assert.match((await texts(".bubble.is-assistant")).at(-1) ?? "", /Work on HB-7 next/);
    assert.equal(await page.locator("#agent-status").getAttribute("data-state"), "finished");
  });

  test("a call with a wrong argument is refused by the page, and the agent mends it", async () => {
    await page.locator(".starters button", { hasText: "Start the most urgent task" }).click();
    await page.locator(".call.is-bad", { hasText: "move_task" }).waitFor();
    await page.locator('[data-column=doing] [data-task="HB-7"]').waitFor();
    await answered();
    await screenshot("4-refused");
    assert.deepEqual((await outcomes()).slice(3), ["invalid_arguments", "ok"]);
    assert.match((await texts(".call.is-bad .call-problem"))[0] ?? "", /\bto\b/);
  });

  test("starting over brings the board back and leaves nothing behind", async () => {
    await page.locator("#again").click();
    await page.locator('[data-column=todo] [data-task="HB-7"]').waitFor();
    await answered();
    assert.equal(await page.locator(".call").count(), 0);
    assert.equal(await page.locator(".bubble").count(), 0);
    assert.ok(!(await page.locator("#viewer").isVisible()));
    assert.equal(await page.locator("#connection-status").getAttribute("data-state"), "ready");
  });

  test("the form leads to a real agent-server, whose agent works on the same board", async (t) => {
    const real = await start(TARGETS.real);
    t.after(() => real.stop());
    const script = unique("demo");
    await real.script(script, [call("create_task", { title: "Sent by a real server" }), finish("It is on the board.")]);
    await page.locator("#connect summary").click();
    const typed = { url: real.url, sessionKey: real.key, model: `openai/${script}`, apiKey: "unused", baseUrl: `${real.llm}/v1` };
    for (const [name, value] of Object.entries(typed)) await page.locator(`#connect [name=${name}]`).fill(value);
    await page.locator("#connect [type=submit]").click();
    await page.locator("#connect:not([open])").waitFor({ state: "attached" });
    await answered();
    await page.locator("#question").fill("Put it on the board.");
    await page.keyboard.press("Enter");
    await page.locator(".call.is-ok", { hasText: "create_task" }).waitFor();
    await page.locator(".bubble.is-assistant", { hasText: "It is on the board." }).waitFor();
    await answered();
    assert.equal((await texts("[data-column=todo] .card-title"))[0], "Sent by a real server");
    await screenshot("5-real-server");
    await page.locator("#connect summary").click();
    await page.locator(".connect-back").click();
    await page.locator(".call").waitFor({ state: "detached" });
    await answered();
  });

  test("a server that goes away is told to the visitor", async () => {
    assert.deepEqual(complaints, [], "until here the browser had nothing to complain about");
    await server.stop();
    await page.locator('#connection-status[data-state="lost"]').waitFor();
    await page.locator("#question").fill("Are you there?");
    await page.keyboard.press("Enter");
    await page.locator(".chat-trouble").waitFor();
    await screenshot("6-server-gone");
  });
});
