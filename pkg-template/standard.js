// @ts-check
/** @import { StandardSchema } from "./types.js" */
/** @import { Execute } from "./tool.js" */
/** @import { Validate } from "./validators.js" */
// Schemas of libraries that implement Standard Schema (https://standardschema.dev), and Standard JSON Schema where they do.
import { isObject } from "./checks.js";


const TARGET = { target: /** @type {const} */ ("draft-2020-12") };

/**
 * The Standard Schemas that the JSON Schemas of tools came from: a tool that is made from another one's fields keeps them.
 * @type {WeakMap<object, StandardSchema>}
 */
const origins = new WeakMap();

/**
 * What an app gave for a schema: the JSON Schema in it, and the library's own, if there is one. Throws when the library has no
 * JSON Schema to give.
 * @param {unknown} given
 * @returns {{ jsonSchema: unknown, standard?: StandardSchema | undefined }}
 */
export function schemaOf(given) {
  if (isObject(given) && isStandard(given.schema)) return { jsonSchema: given.jsonSchema, standard: given.schema };
  if (!isStandard(given)) return { jsonSchema: given, standard: isObject(given) ? origins.get(given) : undefined };
  const { jsonSchema, vendor } = given["~standard"];
  if (jsonSchema === undefined) throw new TypeError(`${vendor} does not say it as JSON Schema`);
  return { jsonSchema: jsonSchema.input(TARGET), standard: given };
}

/**
 * @param {object} jsonSchema
 * @param {StandardSchema | undefined} standard
 */
export function remember(jsonSchema, standard) {
  if (standard !== undefined) origins.set(jsonSchema, standard);
  return { jsonSchema, standard };
}

/**
 * @param {StandardSchema | undefined} standard
 * @returns {Validate | undefined}
 */
export function validatorOf(standard) {
  if (standard === undefined) return undefined;
  return async (value) => {
    /** @type {{ issues?: readonly any[] | undefined }} */
    const { issues } = await standard["~standard"].validate(value);
    // The standard says where and why; for the rule that is broken, libraries have words of their own.
    return issues?.map(({ message, path, code, type, expected }) => ({ message, path, keyword: code ?? type, expected }));
  };
}

/**
 * The handler, given what the schema makes of the arguments. They have been checked by then.
 * @param {StandardSchema | undefined} standard
 * @param {Execute | undefined} execute
 * @returns {Execute | undefined}
 */
export function transforming(standard, execute) {
  if (standard === undefined || execute === undefined) return execute;
  return async (args, context) => {
    const result = await standard["~standard"].validate(args);
    if (result.issues !== undefined) throw new TypeError("the schema let the arguments through, and then it did not");
    return execute(result.value, context);
  };
}

/**
 * Some libraries' schemas are functions.
 * @param {any} value
 * @returns {value is StandardSchema}
 */
function isStandard(value) {
  const may = isObject(value) || typeof value === "function";
  return may && isObject(value["~standard"]) && value["~standard"].version === 1 && typeof value["~standard"].validate === "function";
}
