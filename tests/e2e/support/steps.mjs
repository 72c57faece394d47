// Short words for what a scripted agent does.
let names = 0;

/**
 * A name that no other test of this process uses: a server binds a tool's name to its schema for good.
 * @param {string} word
 */
export function unique(word) {
  names += 1;
  return `${word}_${names}`;
}

/** One answer of the model with one call. @param {string} name @param {unknown} [args] @param {object} [more] */
export const call = (name, args = {}, more) => ({ tool_calls: [{ name, arguments: args }], ...more });

/** One answer of the model with several calls. @param {...[string, unknown]} list */
export const calls = (...list) => ({ tool_calls: list.map(([name, args]) => ({ name, arguments: args })) });

/** A plain answer, which ends the turn. @param {string} text @param {object} [more] */
export const say = (text, more) => ({ text, ...more });

/** The agent's own way to end a turn. @param {string} text */
export const finish = (text) => ({ finish: text });

/** A JSON Schema of an object. @param {Record<string, object>} properties @param {object} [more] */
export const object = (properties, more) => ({ type: "object", properties, ...more });
