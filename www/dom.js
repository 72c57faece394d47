// Making elements. Text goes in as text, never as markup.

/**
 * @param {string} name An element's name, with classes after dots: "span.badge.is-late".
 * @param {Record<string, string | boolean | EventListener>} [attributes] `text`, `on…` listeners, and attributes.
 * @param {...(Node | string)} children
 */
export function el(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  element.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") element.textContent = String(value);
    else if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/**
 * The element of the page that must be there.
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {any}
 */
export function find(selector, root = document) {
  const found = root.querySelector(selector);
  if (found === null) throw new Error(`the page has no ${selector}`);
  return found;
}

/** A sign for the eye, and words for who does not see it. @param {string} mark @param {string} words */
export const sign = (mark, words) => [el("span", { text: mark, "aria-hidden": "true" }), el("span.visually-hidden", { text: words })];

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether the visitor asked for less motion. */
export const isCalm = () => calm.matches;

/**
 * Time for the eye. With less motion there is nothing to wait for.
 * @param {number} ms
 * @param {AbortSignal} signal
 */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(undefined);
    }, isCalm() ? 0 : ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
