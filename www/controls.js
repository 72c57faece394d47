// The controls of a form. Each shows a value and gives it back; what nobody touched comes back as it was.
import { el, sign } from "./dom.js";

/** @import { Field } from "./schema.js" */

/** @typedef {{ control: Control, text: string }} Problem */

/** A longer text gets room to be read as a whole, and is a single line all the same. */
const IN_A_LINE = 36;

let count = 0;

/** A place in the form: a control with its label, its hint, and room for what is wrong with it. */
export class Control {
  /** @type {HTMLElement} */ element;
  /** @type {Field} */ field;
  /** @type {HTMLElement} */ #problem;
  id = `field-${++count}`;

  /** @param {Field} field */
  constructor(field) {
    this.field = field;
    this.#problem = el("p.field-problem", { id: `${this.id}-problem`, hidden: true });
    this.element = el("div.field", { "data-kind": field.kind });
  }

  /** What assistive technology reads with the control. */
  get description() {
    return this.field.hint === "" ? `${this.id}-problem` : `${this.id}-hint ${this.id}-problem`;
  }

  /** The hint, and the place for problems. */
  notes() {
    const { hint } = this.field;
    return [...(hint === "" ? [] : [el("p.field-hint", { id: `${this.id}-hint`, text: hint })]), this.#problem];
  }

  /** @param {HTMLElement} label */
  mark(label) {
    if (this.field.required) label.append(" ", el("span.field-required", { text: "required" }));
    return label;
  }

  /** What takes the focus. @returns {HTMLElement | null} */
  get target() {
    return this.element.querySelector("input, select, textarea, button");
  }

  /** @param {string} text Empty: nothing is wrong. */
  tell(text) {
    const said = this.#problem.textContent ?? "";
    this.#problem.textContent = text === "" || said === "" ? text : `${said}; ${text}`;
    this.#problem.hidden = text === "";
    if (text === "") this.target?.removeAttribute("aria-invalid");
    else this.target?.setAttribute("aria-invalid", "true");
  }

  /** Nothing is wrong any more. */
  clear() {
    this.tell("");
  }

  /** @param {Problem[]} _problems Where to say what cannot be read. @returns {unknown} `undefined`: left out. */
  read(_problems) {
    return undefined;
  }

  /** The control of a place below this one, or the nearest there is. @param {string[]} _steps @returns {Control} */
  at(_steps) {
    return this;
  }
}

/** One input, or one select. */
class Leaf extends Control {
  /** @type {any} */ #input;
  /** @type {unknown} */ #first;
  /** @type {string} */ #shown;

  /** @param {Field} field @param {unknown} value */
  constructor(field, value) {
    super(field);
    this.#first = value;
    this.#input = inputOf(field, value);
    this.#shown = this.#state;
    this.#input.id = this.id;
    this.#input.setAttribute("aria-describedby", this.description);
    const label = el("label", { for: this.id, text: field.label });
    // A box that need not be ticked is never without an answer.
    if (this.#input.type === "checkbox") this.element.append(el("div.field-check", {}, this.#input, label), ...this.notes());
    else this.element.append(this.mark(label), this.#input, ...this.notes());
  }

  /** An entry of a list: the list has the label. @param {string} label */
  bare(label) {
    this.#input.setAttribute("aria-label", label);
    this.#input.removeAttribute("aria-describedby");
    return this.#input;
  }

  get target() {
    return this.#input;
  }

  get #state() {
    return this.#input.type === "checkbox" ? String(this.#input.checked) : this.#input.value;
  }

  /** @param {Problem[]} problems */
  read(problems) {
    const { field } = this;
    const bad = this.#input.validity.badInput;
    if (bad) problems.push({ control: this, text: field.kind === "number" ? "is no number" : "is not complete" });
    if (bad || this.#state === this.#shown) return this.#first;
    if (this.#input.type === "checkbox") return this.#input.checked;
    const text = this.#input.value;
    if (field.kind === "choice" || field.kind === "boolean") return this.#input.selectedOptions[0]?.choice;
    if (text === "") return field.required ? (field.nullable ? null : isText(field) ? "" : undefined) : undefined;
    if (field.kind === "number") return this.#input.valueAsNumber;
    if (field.kind === "datetime-local") return new Date(text).toISOString();
    if (field.kind === "text") return text.replaceAll(/\s*\n\s*/g, " ");
    if (field.kind !== "json") return text;
    try {
      return JSON.parse(text);
    } catch (error) {
      problems.push({ control: this, text: `is no JSON: ${/** @type {Error} */ (error).message}` });
      return undefined;
    }
  }
}

/** A list of entries of one kind. */
class List extends Control {
  /** @type {Leaf[]} */ #rows = [];
  /** @type {Leaf[]} Those that were not empty when the form was read. */ #counted = [];
  /** @type {HTMLElement} */ #list = el("ul.field-rows", { role: "list" });
  /** @type {HTMLButtonElement} */ #add;
  #given;

  /** @param {Field} field @param {any} value */
  constructor(field, value) {
    super(field);
    this.#given = value;
    const add = () => this.#append(undefined).target?.focus();
    this.#add = /** @type {HTMLButtonElement} */ (el("button.button.is-small", { type: "button", text: "Add", onclick: add }));
    this.#add.setAttribute("aria-label", `Add to ${field.label}`);
    const legend = this.mark(el("legend", { text: field.label }));
    const parts = [legend, this.#list, this.#add, ...this.notes()];
    this.element.append(el("fieldset", { "aria-describedby": this.description }, ...parts));
    for (const one of value ?? []) this.#append(one);
  }

  /** @param {unknown} value */
  #append(value) {
    const row = new Leaf(/** @type {Field} */ (this.field.item), value);
    const input = row.bare(`${this.field.label}, entry ${this.#rows.length + 1}`);
    const remove = () => {
      const place = this.#rows.indexOf(row);
      this.#rows.splice(place, 1);
      item.remove();
      (this.#rows[Math.min(place, this.#rows.length - 1)]?.target ?? this.#add).focus();
      // A listener of the form is told as of any other change.
      this.element.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const button = el("button.field-remove", { type: "button", onclick: remove }, ...sign("×", "Remove this entry"));
    const item = el("li", {}, input, button);
    this.#rows.push(row);
    this.#list.append(item);
    return row;
  }

  /** @param {Problem[]} problems */
  read(problems) {
    const read = this.#rows.map((row) => /** @type {const} */ ([row, row.read(problems)]));
    const counted = read.filter(([, value]) => value !== undefined && value !== "");
    this.#counted = counted.map(([row]) => row);
    if (counted.length > 0) return counted.map(([, value]) => value);
    return this.#given === undefined && !this.field.required ? undefined : this.#given === null ? null : [];
  }

  clear() {
    super.clear();
    for (const row of this.#rows) row.clear();
  }

  /** @param {string[]} steps */
  at([index]) {
    const row = this.#counted[Number(index)];
    // A row has no room for words: the list says them, and the row is marked.
    row?.target?.setAttribute("aria-invalid", "true");
    return this;
  }
}

/** The members of an object. */
export class Group extends Control {
  /** @type {Map<string, Control>} */ #members = new Map();
  #given;

  /** @param {Field} field @param {any} value @param {boolean} [isRoot] */
  constructor(field, value, isRoot = false) {
    super(field);
    this.#given = value;
    for (const [name, member] of field.members) this.#members.set(name, controlOf(member, value?.[name]));
    const parts = [...this.#members.values()].map(({ element }) => element);
    if (isRoot) this.element.append(...parts, ...this.notes());
    else this.element.append(el("fieldset.is-group", {}, this.mark(el("legend", { text: field.label })), ...parts, ...this.notes()));
  }

  get members() {
    return this.#members;
  }

  /** @param {Problem[]} problems */
  read(problems) {
    const read = [...this.#members].map(([name, control]) => [name, control.read(problems)]);
    const there = read.filter(([, value]) => value !== undefined);
    if (there.length === 0 && this.#given === undefined && !this.field.required) return undefined;
    return there.length === 0 && this.#given === null ? null : Object.fromEntries(there);
  }

  clear() {
    super.clear();
    for (const member of this.#members.values()) member.clear();
  }

  /** @param {string[]} steps */
  at([name, ...rest]) {
    return this.#members.get(name)?.at(rest) ?? this;
  }
}

/** @param {Field} field @param {unknown} value @returns {Control} */
function controlOf(field, value) {
  if (field.kind === "group") return new Group(field, value);
  return field.kind === "list" ? new List(field, value) : new Leaf(field, value);
}

/** @param {Field} field */
const isText = ({ kind }) => ["text", "lines", "email", "url"].includes(kind);

/** @param {Field} field @param {any} value @returns {HTMLElement} */
function inputOf(field, value) {
  const { kind, schema, required, nullable } = field;
  switch (kind) {
    case "boolean":
      if (required && !nullable && typeof value === "boolean") return el("input", { type: "checkbox", checked: value });
      return select(field, [{ value: true, label: "Yes" }, { value: false, label: "No" }], value);
    case "choice":
      return select(field, field.options, value);
    case "number":
      return el("input", { type: "number", required, ...numeric(schema), value: value === undefined || value === null ? "" : String(value) });
    case "json":
    case "lines": {
      const text = kind === "lines" ? String(value ?? "") : value === undefined ? "" : JSON.stringify(value, null, 2);
      const rows = String(Math.min(8, Math.max(2, text.split("\n").length)));
      return el("textarea", { rows, required, spellcheck: kind === "lines" ? "true" : "false", text });
    }
    case "datetime-local":
      return el("input", { type: kind, required, step: "1", value: value === undefined || value === null ? "" : local(value) });
    default: {
      const { minLength, maxLength } = schema;
      const text = String(value ?? "");
      const length = { ...(minLength && { minlength: String(minLength) }), ...(maxLength && { maxlength: String(maxLength) }) };
      if (kind === "text" && text.length > IN_A_LINE) return el("textarea", { rows: "2", required, ...length, text, onkeydown: submit });
      return el("input", { type: kind, required, autocomplete: "off", ...length, value: text });
    }
  }
}

/** Enter means in a text of one line what it means in an input. @param {any} event */
function submit(event) {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  event.target.form?.requestSubmit();
}

/** @param {Field} field @param {{ value: unknown, label: string }[]} options @param {unknown} value */
function select({ required, nullable }, options, value) {
  const all = [...options];
  const is = (/** @type {unknown} */ one) => JSON.stringify(one) === JSON.stringify(value);
  if (nullable && !all.some((option) => option.value === null)) all.unshift({ value: null, label: "Nothing" });
  // What the agent proposes is shown even where it is not allowed.
  if (value !== undefined && !all.some((option) => is(option.value))) all.unshift({ value, label: `${JSON.stringify(value)} (not allowed)` });
  if (value === undefined || !required) all.unshift({ value: undefined, label: "–" });
  const list = all.map((option, index) => {
    const shown = el("option", { value: String(index), text: option.label, selected: is(option.value) });
    return Object.assign(shown, { choice: option.value });
  });
  return el("select", { required }, ...list);
}

/** What the arrows of a number go by. @param {any} schema */
function numeric({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }) {
  const isWhole = type === "integer";
  const step = multipleOf ?? (isWhole ? 1 : undefined);
  let least = minimum ?? (isWhole && typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : undefined);
  const most = maximum ?? (isWhole && typeof exclusiveMaximum === "number" ? exclusiveMaximum - 1 : undefined);
  // Browsers count steps from the least value.
  if (least !== undefined && step !== undefined) least = Math.ceil(least / step) * step;
  return {
    step: String(step ?? "any"),
    inputmode: isWhole ? "numeric" : "decimal",
    ...(least !== undefined && { min: String(least) }),
    ...(most !== undefined && { max: String(most) }),
  };
}

/** A moment as a clock on this wall shows it. @param {string} moment */
function local(moment) {
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
