// What the pages say, held against the code. Nothing has to be built for it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { guides, root, samples, text } from "./pages.mjs";

const modules = path.join(root, "tests/node_modules");
const readme = text("README.md");
const types = text("src/wasm/types.d.ts");

test("every sample compiles", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "pagehand-docs-"));
  t.after(() => rm(folder, { recursive: true }));
  await symlink(modules, path.join(folder, "node_modules"));
  await cp(path.join(root, "tests/docs/around.d.ts"), path.join(folder, "around.d.ts"));
  let count = 0;
  for (const page of guides) {
    const place = path.join(folder, path.basename(page, ".md"));
    await mkdir(place);
    for (const { language, name, code } of samples(page)) {
      // Commands are tried by xtask's own tests; a policy is no program.
      if (["sh", "csp"].includes(language)) continue;
      assert.ok(["js", "ts"].includes(language), `${page}: what is ${language}?`);
      await writeFile(path.join(place, name), `${code}export {};\n`);
      count += 1;
    }
  }
  assert.ok(count > 15, `only ${count} samples`);
  const compilerOptions = {
    strict: true, noEmit: true, allowJs: true, checkJs: true, target: "es2022", module: "esnext", moduleResolution: "bundler",
    types: ["node"], lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
    paths: { pagehand: [path.join(root, "src/wasm/types.d.ts")] },
  };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*"], exclude: ["node_modules"] }));
  const { stdout } = spawnSync(process.execPath, [path.join(modules, "typescript/bin/tsc"), "--project", folder], { encoding: "utf8" });
  assert.equal(stdout, "");
});

// ---------------------------------------------------------------- lists

/** The words of a union in the types. */
const union = (name, source = types) =>
  new Set([...(new RegExp(`(?:type|typedef \\{)[^=;]*\\b${name}\\b[^=;]*=([^;]*);`).exec(source)?.[1] ?? "").matchAll(/"(\w+)"/g)].map(([, word]) => word));
/** The variants of an enum in the core, as they are written outside. */
const variants = (file, name) => {
  const body = new RegExp(`pub enum ${name} \\{([^}]*)\\}`).exec(text(file))?.[1] ?? "";
  return new Set([...body.matchAll(/^ {4}(\w+),$/gm)].map(([, variant]) => variant.replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase()));
};
/** What stands in backticks in a part of a text. */
const quoted = (part) => new Set([...part.matchAll(/`([\w]+)`/g)].map(([, word]) => word));
const between = (start, end, source = readme) => {
  const from = source.indexOf(start);
  assert.ok(from >= 0, `where is ${start}?`);
  const part = source.slice(from + start.length);
  return part.slice(0, part.indexOf(end));
};
function same(one, other, what) {
  const [left, right] = [[...one].sort(), [...other].sort()];
  assert.ok(left.length > 2, `${what}: nothing was found`);
  assert.deepEqual(left, right, what);
}

test("the table of errors has every code, and no other", () => {
  const core = [...between("pub fn code", "\n    }\n", text("src/error.rs")).matchAll(/=> "(\w+)"/g)].map(([, code]) => code);
  const scripts = readdirSync(path.join(root, "pkg-template")).filter((name) => name.endsWith(".js"));
  const facade = scripts.flatMap((name) => [...text(`pkg-template/${name}`).matchAll(/new PagehandError\(\s*"(\w+)"/g)].map(([, code]) => code));
  const made = new Set([...core, ...facade]);
  same(union("ErrorCode"), made, "the types and the code");
  same(new Set([...between("## Errors", "\n## ").matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)), made, "the README and the code");
  same(new Set([...text("src/wasm/error-details.d.ts").matchAll(/^ {2}(\w+): /gm)].map(([, code]) => code)), made, "the details and the code");
});

test("failure codes, outcomes, states and topics are listed as they are", () => {
  const failures = variants("src/call/outcome.rs", "FailureCode");
  same(union("FailureCode"), failures, "the types' failure codes");
  same(quoted(between("(with a `code`:", ")")), failures, "the README's failure codes");
  const outcomes = new Set([...between("export type Outcome =", ";\n\n", types).matchAll(/kind: "(\w+)"/g)].map(([, kind]) => kind));
  same(quoted(between("Outcomes: ", ". Handlers start").replace(/\([^)]*\)/g, "")), outcomes, "the README's outcomes");
  const states = new Set(between("A call goes `", "Outcomes:").match(/\w+/g)?.filter((word) => union("CallState").has(word)));
  same(states, union("CallState"), "the README's states");
  const topics = new Set([...text("src/conversation/event.rs").matchAll(/Self::\w+ => "(\w+)"/g)].map(([, topic]) => topic));
  same(new Set(between("TOPICS = [", "]", text("pkg-template/emitter.js")).match(/\w+/g)), topics, "the facade's topics");
  same(new Set([...between("interface ConversationEvents {", "}", types).matchAll(/^ {2}(\w+):/gm)].map(([, topic]) => topic)), topics, "the types' topics");
  same(quoted(between("\nTopics: ", ".\n").replace(/\([^)]*\)/g, "")), topics, "the README's topics");
});

test("notices are listed as they are", () => {
  same(union("NoticeCode"), variants("src/protocol/signal.rs", "NoticeCode"), "the types' notices");
});

test("why a WebAssembly file is missing is listed as it is", () => {
  const troubles = new Set([...between("@typedef {", "} Trouble", text("pkg-template/load.js")).matchAll(/"(\w+)"/g)].map(([, word]) => word));
  same(new Set([...text("docs/bundlers.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, word]) => word)), troubles, "docs/bundlers.md");
  same(new Set([...(/reason: ("status[^}]*) \}/.exec(text("src/wasm/error-details.d.ts"))?.[1] ?? "").matchAll(/\w+/g)].map(([word]) => word)), troubles, "the details");
});

test("the policy that is asked for is the one that is tried", () => {
  const tried = /script-src [^;"]+/.exec(text("tests/e2e/support/site.mjs"))?.[0];
  assert.ok(tried !== undefined && text("docs/csp.md").includes(`${tried};`), tried);
});

// ---------------------------------------------------------------- form

test("every link within the repository leads somewhere", () => {
  const pages = [...guides, "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "crates/mock-server/README.md"];
  const anchors = (page) => new Set([...text(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title.toLowerCase().replace(/[^\w\s-]/g, "").replaceAll(" ", "-")));
  let count = 0;
  for (const page of pages) {
    for (const [, link] of text(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [file, anchor] = link.split("#");
      const target = file === "" ? page : path.join(path.dirname(page), file);
      assert.ok(existsSync(path.join(root, target)), `${page}: ${link}`);
      if (anchor !== undefined) assert.ok(anchors(target).has(anchor), `${page}: ${link}`);
      count += 1;
    }
  }
  assert.ok(count > 10, `only ${count} links`);
});

test("the README stays short", () => {
  const lines = readme.split("\n").length;
  assert.ok(lines <= 250, `${lines} lines`);
});
