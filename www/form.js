// A form made from a JSON Schema, filled with the arguments of a call.
import { Group } from "./controls.js";
import { el } from "./dom.js";
import { fieldOf } from "./schema.js";

/** @import { Issue } from "./pkg/types.d.ts" */
/** @import { Problem } from "./controls.js" */

/** So many fields are all in sight; of more, those that are optional and empty are folded away. */
const MOST_IN_SIGHT = 6;

export class SchemaForm {
  /** @type {Group} */ #root;
  /** @type {string} */ #before;

  /**
   * @param {unknown} schema
   * @param {unknown} value
   */
  constructor(schema, value) {
    const field = fieldOf(schema, value);
    // Arguments are an object, whatever the schema leaves unsaid.
    if (field.kind !== "group") Object.assign(field, { ...fieldOf({ type: "object", properties: {} }, value), hint: "" });
    this.#root = new Group(field, value, true);
    this.#before = stable(value);
    this.#fold(value);
  }

  get element() {
    return this.#root.element;
  }

  /** The value, and whether somebody changed it; `undefined` where a field cannot be read, which the field says. */
  read() {
    this.#root.clear();
    /** @type {Problem[]} */
    const problems = [];
    const value = /** @type {Record<string, unknown>} */ (this.#root.read(problems) ?? {});
    for (const { control, text } of problems) control.tell(text);
    if (problems.length > 0) return void this.#reveal();
    return { value, changed: stable(value) !== this.#before };
  }

  /** Whether it differs from what was proposed, as far as it can be read. */
  get changed() {
    /** @type {Problem[]} */
    const problems = [];
    return stable(this.#root.read(problems) ?? {}) !== this.#before || problems.length > 0;
  }

  /** Says at the fields what is wrong with them. @param {Issue[]} issues */
  show(issues) {
    this.#root.clear();
    for (const { path, keyword, message } of issues) {
      const control = this.#root.at(path.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")));
      const missing = keyword === "required" && control instanceof Group ? missingOf(control) : [];
      if (missing.length === 0) control.tell(message);
      for (const member of missing) member.clear();
      for (const member of missing) member.tell("must be filled in");
    }
    this.#reveal();
  }

  /** The first field with a problem is in sight and has the focus. */
  #reveal() {
    const first = this.element.querySelector('[aria-invalid="true"]');
    first?.closest("details")?.setAttribute("open", "");
    if (first instanceof HTMLElement) first.focus();
  }

  /** @param {any} value */
  #fold(value) {
    const members = [...this.#root.members];
    if (members.length <= MOST_IN_SIGHT) return;
    const spare = members.filter(([name, { field }]) => !field.required && value?.[name] === undefined);
    if (spare.length === 0) return;
    const summary = el("summary", { text: `${spare.length} more, all optional` });
    this.element.append(el("details.field-more", {}, summary, el("div.field-spare", {}, ...spare.map(([, { element }]) => element))));
  }
}

/** @param {Group} group */
function missingOf(group) {
  return [...group.members.values()].filter((member) => member.field.required && member.read([]) === undefined);
}

/** JSON text in which the order of members makes no difference. @param {unknown} value */
function stable(value) {
  return JSON.stringify(value, (_, part) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}
