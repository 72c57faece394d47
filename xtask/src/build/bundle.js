// Run by Node where the npm packages are. The argument is a folder with the sources in `src`; what is made of them goes to `out`.
const { readFileSync, readdirSync, writeFileSync } = require("fs");
const { build } = require("esbuild");
const { minify } = require("terser");

const options = {
  absWorkingDir: process.argv[1],
  outdir: "out",
  bundle: true,
  minify: true,
  format: "esm",
  // The language that the sources are written in and checked for (tests/tsconfig.json).
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  sourcemap: true,
  logLevel: "warning",
};

/** Puts the text of a wasm file in the place of its address. The imports come last, so that lines keep their numbers. */
const embed = {
  name: "embed",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      let imports = "";
      const contents = readFileSync(path, "utf8").replace(/new URL\("\.\/(\w+)\.wasm", import\.meta\.url\)/, (_, name) => {
        imports = `import text from "./inline-${name}.js"; import { bytesOf } from "./embedded.js";`;
        return "bytesOf(text)";
      });
      return { contents: contents + imports };
    });
  },
};

/** esbuild goes over a script once. What another pass finds is a twentieth of it. */
async function shorten(file) {
  const path = `${options.absWorkingDir}/out/${file}`;
  const content = readFileSync(`${path}.map`, "utf8");
  const { code, map } = await minify(
    { [file]: readFileSync(path, "utf8") },
    { module: true, ecma: 2022, compress: { passes: 3 }, sourceMap: { content, includeSources: true, filename: file, url: `${file}.map` } },
  );
  writeFileSync(path, code);
  writeFileSync(`${path}.map`, map);
}

async function bundle() {
  const files = readdirSync(`${options.absWorkingDir}/src`).filter((file) => file.endsWith(".wasm"));
  const texts = files.map((file) => ({ in: `src/${file}`, out: `inline-${file.replace(".wasm", "")}` }));
  await build({ ...options, entryPoints: ["src/openhands.js", "src/uipath.js"], splitting: true, chunkNames: "shared" });
  await build({
    ...options,
    entryPoints: ["src/index.js"],
    external: ["./openhands.js", "./uipath.js"],
    // Named here already, it is fetched beside the two that need it, not after them.
    banner: { js: 'import"./shared.js";' },
  });
  await build({ ...options, entryPoints: ["src/inline.js"], external: ["./inline-*.js"], plugins: [embed] });
  await Promise.all(["openhands.js", "uipath.js", "shared.js", "inline.js"].map(shorten));
  await build({ ...options, entryPoints: texts, loader: { ".wasm": "base64" }, sourcemap: false });
}

bundle().catch(() => process.exit(1));
