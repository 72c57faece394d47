// The panel beside the board that shows a file.
import { el, find, isCalm } from "./dom.js";

export const FILES = ["README.md", "notes/clock-change.md", "notes/release-2.4.md"];

export class Viewer {
  /** @type {HTMLElement} */ #panel;
  /** @type {HTMLElement} */ #stage;
  /** @type {HTMLElement | null} What had the focus before the panel took it. */ #from = null;

  /** @param {HTMLElement} panel */
  constructor(panel) {
    this.#panel = panel;
    this.#stage = /** @type {HTMLElement} */ (panel.parentElement);
    find(".viewer-close", panel).addEventListener("click", () => this.close());
    panel.addEventListener("focusin", ({ relatedTarget }) => {
      if (relatedTarget instanceof HTMLElement && !panel.contains(relatedTarget)) this.#from = relatedTarget;
    });
    document.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.close();
    });
  }

  /**
   * @param {string} path
   * @param {{ line?: number, signal?: AbortSignal }} [options]
   */
  async open(path, { line, signal } = {}) {
    if (!FILES.includes(path)) throw new Error(`There is no file ${path}. The project has ${FILES.join(", ")}.`);
    const response = await fetch(new URL(`files/${path}`, document.baseURI), { signal });
    if (!response.ok) throw new Error(`The server answered ${response.status} for ${path}.`);
    const lines = (await response.text()).trimEnd().split("\n");
    if (line !== undefined && line > lines.length) throw new Error(`${path} has ${lines.length} lines; line ${line} is not one of them.`);
    this.#show(path, lines, line);
    return { lines: lines.length };
  }

  close() {
    if (this.#panel.hidden) return;
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#stage.classList.remove("has-viewer");
    this.#panel.hidden = true;
    if (hadFocus) this.#from?.focus();
  }

  /** @param {string} path @param {string[]} lines @param {number | undefined} marked */
  #show(path, lines, marked) {
    find(".viewer-path", this.#panel).textContent = path;
    const list = find(".viewer-lines", this.#panel);
    list.replaceChildren(
      ...lines.map((text, index) => {
        const kind = text.startsWith("#") ? "li.is-heading" : /^( {4}|\t)/.test(text) ? "li.is-code" : "li";
        const isMarked = index + 1 === marked;
        return el(isMarked ? `${kind}.is-marked` : kind, { text: text || " ", ...(isMarked && { "aria-current": "true" }) });
      }),
    );
    const opens = this.#panel.hidden;
    this.#panel.hidden = false;
    this.#stage.classList.add("has-viewer");
    if (opens && !isCalm()) {
      this.#panel.animate([{ opacity: 0, transform: "translateX(40px)" }, {}], { duration: 320, easing: "cubic-bezier(.2,.7,.2,1)" });
    }
    const scroller = find(".viewer-body", this.#panel);
    const line = list.querySelector(".is-marked");
    const place = () => (scroller.scrollTop = line === null ? 0 : line.offsetTop - scroller.clientHeight / 3);
    place();
    // While the panel grows, its lines break elsewhere.
    Promise.allSettled(this.#stage.getAnimations().map(({ finished }) => finished)).then(place);
  }
}
