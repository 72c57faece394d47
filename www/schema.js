// What a form needs to know of a JSON Schema: for each place a kind of control, its words, and its limits. It shows what it
// understands and leaves the judgement to the package, which checks what is sent against the whole schema.

/**
 * @typedef {"text" | "lines" | "number" | "boolean" | "choice" | "date" | "time" | "datetime-local" | "email" | "url" | "list" | "group" | "json"} Kind
 *
 * @typedef {object} Field
 * @property {Kind} kind
 * @property {string} label
 * @property {string} hint
 * @property {boolean} required
 * @property {boolean} nullable Whether `null` is a value.
 * @property {any} schema What applies here, without references.
 * @property {{ value: unknown, label: string }[]} options Of a choice.
 * @property {[string, Field][]} members Of a group, those first that must be there.
 * @property {Field | undefined} item Of a list.
 */

/** How deep groups may stand in each other; what is deeper is written as JSON. */
const DEEPEST = 3;
/** A text that may be longer than this gets more than one line. */
const LONG = 120;

/**
 * @param {unknown} schema
 * @param {unknown} value What is proposed: it must find a control that can hold it.
 * @returns {Field}
 */
export const fieldOf = (schema, value) => read(schema, value, { root: schema, name: "", required: true, depth: 0 });

/**
 * @param {unknown} given
 * @param {unknown} value
 * @param {{ root: unknown, name: string, required: boolean, depth: number }} place
 * @returns {Field}
 */
function read(given, value, { root, name, required, depth }) {
  const { nullable, labels, ...schema } = plain(given, root);
  /** @type {Field} */
  const field = {
    kind: "json",
    label: typeof schema.title === "string" ? schema.title : readable(name),
    hint: "",
    required,
    nullable,
    schema,
    options: [],
    members: [],
    item: undefined,
  };
  field.kind = kindOf(schema, value);
  // Of groups within groups only those are opened that have something in them: a schema may describe a tree.
  if (field.kind === "group" && (depth > DEEPEST || (depth > 1 && !required && value === undefined))) field.kind = "json";
  if (field.kind === "choice") {
    const values = "const" in schema ? [schema.const] : schema.enum;
    field.options = values.map((/** @type {unknown} */ one) => ({ value: one, label: labels?.get(one) ?? wordFor(one) }));
  }
  if (field.kind === "list") {
    const item = read(schema.items ?? {}, undefined, { root, name: "", required: true, depth: depth + 1 });
    const isFlat = !["list", "group", "json", "lines"].includes(item.kind);
    if (isFlat && /** @type {unknown[]} */ (value ?? []).every((one) => holds(item.kind, one))) field.item = item;
    else field.kind = "json";
  }
  if (field.kind === "group") field.members = members(schema, value, root, depth);
  field.hint = [sentence(schema.description), limits(field)].filter((part) => part !== "").join(" ");
  return field;
}

/**
 * @param {any} schema
 * @param {any} value
 * @param {unknown} root
 * @param {number} depth
 * @returns {[string, Field][]}
 */
function members({ properties = {}, required = [], additionalProperties = true }, value, root, depth) {
  // What the agent gave beyond the declared properties is shown as well: nothing is sent that nobody saw.
  const others = Object.keys(value ?? {}).filter((name) => !Object.hasOwn(properties, name));
  const schemas = { ...properties, ...Object.fromEntries(others.map((name) => [name, additionalProperties])) };
  const all = Object.entries(schemas).map(([name, schema]) => {
    const place = { root, name, required: required.includes(name), depth: depth + 1 };
    return /** @type {[string, Field]} */ ([name, read(schema, value?.[name], place)]);
  });
  return all.sort(([, one], [, other]) => Number(other.required) - Number(one.required));
}

/**
 * The schema without references and without the shapes that only say "or null" or "one of these".
 * @param {any} schema
 * @param {unknown} root
 * @returns {any}
 */
function plain(schema, root, steps = 0) {
  // Whoever goes in circles says nothing.
  if (typeof schema !== "object" || schema === null || steps > 16) return { nullable: false };
  if (typeof schema.$ref === "string") {
    const { $ref, ...beside } = schema;
    // The title of a definition is the name of a type, not of this place.
    const { title, ...target } = at(root, $ref) ?? {};
    return plain({ ...target, ...beside }, root, steps + 1);
  }
  if (schema.allOf?.length === 1) {
    const { allOf, ...beside } = schema;
    return plain({ ...allOf[0], ...beside }, root, steps + 1);
  }
  const { anyOf, oneOf, ...rest } = schema;
  const ways = anyOf ?? oneOf;
  if (Array.isArray(ways) && (anyOf === undefined || oneOf === undefined)) {
    const real = ways.filter((way) => way?.type !== "null" && way?.const !== null);
    const nullable = real.length < ways.length;
    if (nullable && real.length === 1) return { ...plain({ ...real[0], ...rest }, root, steps + 1), nullable };
    if (real.length > 0 && real.every((way) => typeof way === "object" && "const" in way)) {
      const labels = new Map(real.map((way) => [way.const, way.title ?? wordFor(way.const)]));
      return { ...rest, enum: [...labels.keys()], labels, nullable };
    }
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((/** @type {string} */ type) => type !== "null");
    const nullable = types.length < schema.type.length;
    return types.length === 1 ? { ...schema, type: types[0], nullable } : { ...schema, type: undefined, nullable };
  }
  return { ...schema, nullable: schema.enum?.includes(null) ?? false };
}

/** The part of a document that a local reference means. @param {unknown} root @param {string} reference */
function at(root, reference) {
  if (!reference.startsWith("#")) return undefined;
  const steps = decodeURIComponent(reference.slice(1)).split("/").slice(1);
  return steps.reduce((/** @type {any} */ part, step) => part?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

/** @param {any} schema @param {unknown} value @returns {Kind} */
function kindOf(schema, value) {
  if (Array.isArray(schema.enum) || "const" in schema) return "choice";
  const kind = kindOfType(schema, value);
  return holds(kind, value) ? kind : kind !== "json" && typeof value === "string" ? "text" : "json";
}

/** @param {any} schema @param {unknown} value @returns {Kind} */
function kindOfType({ type, format, maxLength, properties, items, anyOf, oneOf }, value) {
  const hasWays = anyOf !== undefined || oneOf !== undefined;
  switch (type ?? (properties ? "object" : items ? "array" : hasWays ? "" : typeof value)) {
    case "boolean":
      return "boolean";
    case "number":
    case "integer":
      return "number";
    case "array":
      return "list";
    case "object":
      return properties === undefined ? "json" : "group";
    case "string":
      if (format === "date-time") return "datetime-local";
      if (format === "date" || format === "time" || format === "email") return format;
      if (format === "uri") return "url";
      return maxLength > LONG || String(value ?? "").length > LONG || /\n/.test(String(value ?? "")) ? "lines" : "text";
    default:
      return "json";
  }
}

/** Whether a control can show a value without changing it. @param {Kind} kind @param {unknown} value */
function holds(kind, value) {
  if (value === undefined || value === null || kind === "json" || kind === "choice") return true;
  switch (kind) {
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number";
    case "list":
      return Array.isArray(value);
    case "group":
      return typeof value === "object" && !Array.isArray(value);
    case "date":
      return /^\d{4}-\d\d-\d\d$/.test(String(value));
    case "time":
      return /^\d\d:\d\d(:\d\d)?$/.test(String(value));
    case "datetime-local":
      return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
    default:
      return typeof value === "string";
  }
}

/** What the control cannot say by itself. @param {Field} field */
function limits({ kind, schema }) {
  /** @param {unknown} least @param {unknown} most @param {string} unit */
  const range = (least, most, unit) => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
    if (least !== undefined) return `at least ${least}${unit}`;
    return most === undefined ? "" : `at most ${most}${unit}`;
  };
  const parts = [];
  if (kind === "number") {
    parts.push(range(schema.minimum, schema.maximum, ""));
    if (schema.exclusiveMinimum !== undefined) parts.push(`more than ${schema.exclusiveMinimum}`);
    if (schema.exclusiveMaximum !== undefined) parts.push(`less than ${schema.exclusiveMaximum}`);
    if (schema.multipleOf !== undefined) parts.push(`in steps of ${schema.multipleOf}`);
  }
  if (kind === "text" || kind === "lines") {
    parts.push(range(schema.minLength, schema.maxLength, " characters"));
    if (schema.pattern !== undefined) parts.push(`must match ${schema.pattern}`);
  }
  if (kind === "list") {
    parts.push(range(schema.minItems, schema.maxItems, " entries"));
    if (schema.uniqueItems) parts.push("none twice");
  }
  if (kind === "json") parts.push("written as JSON");
  return sentence(parts.filter((part) => part !== "").join(", "));
}

/** @param {unknown} text */
function sentence(text) {
  if (typeof text !== "string" || text === "") return "";
  const begun = text[0].toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(begun) ? begun : `${begun}.`;
}

/** "due_in_days" and "dueInDays" are read as "Due in days". @param {string} name */
function readable(name) {
  const words = name.replaceAll(/[_-]+/g, " ").replaceAll(/([a-z\d])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`);
  return words === "" ? "" : words[0].toUpperCase() + words.slice(1);
}

/** @param {unknown} value */
const wordFor = (value) => (typeof value === "string" ? value : JSON.stringify(value));
