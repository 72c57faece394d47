// The pages for people, and the samples in them.
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const text = (file) => readFileSync(path.join(root, file), "utf8");

/** The pages that show how something is done. */
export const guides = ["README.md", ...readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`)];

/**
 * The samples of a page. What stands after the language is the name of the file that it is; others are numbered.
 * @returns {{ language: string, name: string, code: string }[]}
 */
export const samples = (page) =>
  [...text(page).matchAll(/^```(\w+)(?: (\S+))?\n([^]*?)^```$/gm)].map(([, language, name, code], at) => ({
    language,
    name: name ?? `sample-${at + 1}.${language}`,
    code,
  }));
