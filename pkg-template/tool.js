// @ts-check
/** @import { CallContext, Json, Tool, ToolDefinition } from "./types.js" */
import { isObject } from "./checks.js";
import { PagehandError, invalidArgument } from "./errors.js";

/** @typedef {(args: any, context: CallContext) => unknown} Execute */
/** @import { Confirm } from "./guards.js" */
/** @typedef {{ name: string, fields: object, execute: Execute | undefined, confirm: Confirm }} Declared `fields` are the core's. */

const FIELDS = [
  "name", "description", "inputSchema", "parameters", "outputSchema", "annotations", "timeout", "runOn", "confirm", "execute",
];
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * What a checked tool is to the rest of the facade.
 * @type {WeakMap<object, Declared>}
 */
const declared = new WeakMap();

/**
 * Checks the shape of a definition, and keeps it: later changes to the object change nothing. The rules about names and
 * schemas are checked when the tool is declared to a conversation.
 *
 * @param {ToolDefinition} definition
 * @returns {Tool}
 */
export function tool(definition) {
  if (!isObject(definition)) throw invalidArgument("tool", "must be an object with a name and a description");
  /** @type {Record<string, unknown>} */
  const given = definition;
  const name = typeof given.name === "string" ? given.name : "";
  /** @param {string} field @param {string} rule @param {string} message @param {unknown} [cause] */
  const fault = (field, rule, message, cause) =>
    new PagehandError("invalid_tool", `tool ${JSON.stringify(name)}: ${field}: ${message}`, {
      details: { tool: name, field, rule, message },
      cause,
    });

  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) throw fault(field, "unknown_field", `not a field of a tool; ${FIELDS.join(", ")} are`);
  }
  if (name === "") throw fault("name", "name_pattern", "must be a string that is not empty");
  const { description, annotations, timeout, runOn, confirm, execute, outputSchema } = given;
  if (typeof description !== "string") {
    throw fault("description", "description_required", "must be a string: the model decides on a call by it");
  }
  if (given.inputSchema !== undefined && given.parameters !== undefined) {
    throw fault("parameters", "one_schema", "is another name of inputSchema; give one of them");
  }
  const inputField = given.parameters === undefined ? "inputSchema" : "parameters";
  const inputSchema = given[inputField] ?? { type: "object", properties: {} };
  if (!isObject(inputSchema)) throw fault(inputField, "schema_object", "must be a JSON Schema object");
  if (outputSchema !== undefined && !isObject(outputSchema)) {
    throw fault("outputSchema", "schema_object", "must be a JSON Schema object");
  }
  // The server spells absent annotations as null.
  if (annotations !== undefined && annotations !== null && !isObject(annotations)) {
    throw fault("annotations", "annotation_type", "must be an object of hints");
  }
  if (timeout !== undefined && !(typeof timeout === "number" && timeout >= 1 && timeout <= LONGEST_TIMEOUT)) {
    throw fault("timeout", "timeout_milliseconds", `must be a number of milliseconds, 1 to ${LONGEST_TIMEOUT}`);
  }
  if (runOn !== undefined && runOn !== "acknowledgement" && runOn !== "announcement") {
    throw fault("runOn", "run_on", 'must be "acknowledgement" or "announcement"');
  }
  if (confirm !== undefined && typeof confirm !== "boolean" && typeof confirm !== "function") {
    throw fault("confirm", "confirm", "must be true, false, or a function of the arguments");
  }
  if (execute !== undefined && typeof execute !== "function") {
    throw fault("execute", "execute_function", "must be a function, or be left out");
  }

  /** @param {string} field @param {unknown} value @returns {any} */
  const copy = (field, value) => {
    try {
      return value === undefined || value === null ? undefined : deepFreeze(JSON.parse(JSON.stringify(value)));
    } catch (cause) {
      throw fault(field, "json", "must be something that JSON can carry", cause);
    }
  };
  const kept = {
    name,
    description,
    inputSchema: copy(inputField, inputSchema),
    outputSchema: copy("outputSchema", outputSchema),
    annotations: copy("annotations", annotations),
    timeout,
    runOn,
  };
  const checked = withoutAbsent({ ...kept, confirm, execute });
  declared.set(checked, {
    name,
    fields: { ...kept, hasHandler: execute !== undefined },
    confirm: /** @type {Confirm} */ (typeof confirm === "function" ? confirm.bind(definition) : confirm),
    // `this` in a method is the object that the method was given in.
    execute: /** @type {Execute | undefined} */ (execute?.bind(definition)),
  });
  return Object.freeze(checked);
}

/**
 * A tool or a definition, as declared.
 * @param {unknown} given
 * @returns {Declared}
 */
export function declaredTool(given) {
  const known = isObject(given) ? declared.get(given) : undefined;
  return known ?? declaredTool(tool(/** @type {ToolDefinition} */ (given)));
}

/**
 * @param {unknown} given
 * @returns {Declared[]}
 */
export function declaredTools(given) {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw invalidArgument("tools", "must be an array of tools");
  return given.map(declaredTool);
}

/**
 * @template {object} T
 * @param {T} fields
 * @returns {any}
 */
function withoutAbsent(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Freezes what `JSON.parse` gave. `JSON.stringify` has walked it before, so its depth is bearable.
 * @param {Json} value
 */
function deepFreeze(value) {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
