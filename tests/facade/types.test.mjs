// The declarations as an app's compiler finds them: through the package, under both ways of finding modules.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { packageFolder } from "./help.mjs";

const tests = fileURLToPath(new URL("..", import.meta.url));
const compiler = path.join(tests, "node_modules/typescript/bin/tsc");

/** The type tests in an app of their own, which has the package from npm and nothing of the repository. */
async function app(t) {
  const folder = await mkdtemp(path.join(tmpdir(), "pagehand-types-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, "node_modules"));
  await cp(packageFolder, path.join(folder, "node_modules/pagehand"), { recursive: true });
  for (const name of ["zod", "valibot", "@valibot", "@standard-schema"]) {
    await symlink(path.join(tests, "node_modules", name), path.join(folder, "node_modules", name));
  }
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  // What tests write looks into the repository.
  const files = (await readdir(path.join(tests, "types"))).filter((name) => name.endsWith(".ts") && !["samples.ts", "recorded.ts"].includes(name));
  assert.ok(files.length > 4);
  for (const file of files) await cp(path.join(tests, "types", file), path.join(folder, file));
  return folder;
}

for (const [module, resolution] of [["esnext", "bundler"], ["nodenext", "nodenext"]]) {
  test(`the types hold in an app that finds modules the ${resolution} way`, async (t) => {
    const folder = await app(t);
    const compilerOptions = {
      strict: true, noEmit: true, target: "es2022", module, moduleResolution: resolution, types: [], allowImportingTsExtensions: true,
      lib: ["es2022", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
    };
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const [said, listed] = await Promise.all([[], ["--listFilesOnly"]].map((more) => new Promise((done) => {
      execFile(process.execPath, [compiler, "--project", folder, ...more], (error, stdout) => done(`${error?.code ?? ""}${stdout}`));
    })));
    assert.equal(said, "");
    assert.match(listed, /node_modules\/pagehand\/types\.d\.ts/);
  });
}
