// The board: its tasks, and how they look.
import { el, isCalm, sign } from "./dom.js";
import { COLUMNS, PEOPLE, sampleTasks } from "./tasks.js";

/** @import { Task } from "./tasks.js" */

const TOUCHED_FOR = 6000;

export class Board {
  /** @type {Task[]} */ #tasks = [];
  /** @type {Map<string, HTMLElement>} The cards by the id of their task. */ #cards = new Map();
  /** @type {Map<string, { list: HTMLElement, count: HTMLElement }>} */ #columns = new Map();
  /** @type {HTMLElement} */ #root;
  /** @type {WeakMap<HTMLElement, ReturnType<typeof setTimeout>>} When to stop pointing at a card. */ #timers = new WeakMap();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    for (const [key, title] of COLUMNS) {
      const count = el("span.count");
      const list = el("ul.cards", { role: "list", "aria-label": title });
      root.append(el("section.column", { "data-column": key }, el("h3", {}, title, " ", count, el("span.visually-hidden", { text: " tasks" })), list));
      this.#columns.set(key, { list, count });
    }
    this.reset();
  }

  reset() {
    this.#tasks = sampleTasks();
    for (const card of this.#cards.values()) card.remove();
    this.#cards.clear();
    for (const task of this.#tasks) this.#column(task.column).list.append(this.#card(task));
    this.#recount();
  }

  /**
   * The tasks, in the order of the board.
   * @param {{ column?: string, assignee?: string }} [only]
   */
  list({ column, assignee } = {}) {
    return COLUMNS.flatMap(([key]) => this.#tasks.filter((task) => task.column === key))
      .filter((task) => column === undefined || task.column === column)
      .filter((task) => assignee === undefined || task.assignee === assignee)
      .map((task) => ({ ...task }));
  }

  /**
   * A new task, at the top of its column. One that is there already is shown instead.
   * @param {Omit<Task, "id">} given
   */
  create(given) {
    const same = this.#tasks.find((task) => task.title.toLowerCase() === given.title.toLowerCase());
    if (same !== undefined) return { created: false, task: { ...same } };
    const number = Math.max(...this.#tasks.map((task) => Number(task.id.slice(3)))) + 1;
    const task = { ...given, id: `HB-${number}` };
    this.#tasks.unshift(task);
    const card = this.#card(task);
    this.#column(task.column).list.prepend(card);
    this.#recount();
    if (!isCalm()) card.animate([{ opacity: 0, transform: "translateY(-12px)" }, {}], { duration: 320, easing: "ease-out" });
    return { created: true, task: { ...task } };
  }

  /** @param {string} id @param {Task["column"]} to */
  move(id, to) {
    const task = this.#task(id);
    const from = task.column;
    const card = /** @type {HTMLElement} */ (this.#cards.get(id));
    const before = card.getBoundingClientRect();
    task.column = to;
    this.#tasks = [task, ...this.#tasks.filter((other) => other !== task)];
    this.#column(to).list.prepend(card);
    this.#fill(card, task);
    this.#recount();
    const after = card.getBoundingClientRect();
    const offset = `translate(${before.x - after.x}px, ${before.y - after.y}px)`;
    if (!isCalm()) card.animate([{ transform: offset }, { transform: "none" }], { duration: 420, easing: "cubic-bezier(.2,.7,.2,1)" });
    return { id, from, to };
  }

  /**
   * Points at tasks for some seconds.
   * @param {string[]} ids
   */
  point(ids) {
    const cards = ids.map((id) => /** @type {HTMLElement} */ (this.#cards.get(this.#task(id).id)));
    for (const card of cards) {
      clearTimeout(this.#timers.get(card));
      card.classList.remove("is-touched");
      // Reading a size makes the animation start anew.
      void card.offsetWidth;
      card.classList.add("is-touched");
      this.#timers.set(card, setTimeout(() => card.classList.remove("is-touched"), TOUCHED_FOR));
    }
    this.#reveal(cards[0]);
  }

  /** Shows that the whole board is looked at. @param {boolean} on */
  reading(on) {
    this.#root.classList.toggle("is-read", on);
  }

  // ------------------------------------------------------------------ inside

  /** @param {string} id */
  #task(id) {
    const task = this.#tasks.find((task) => task.id === id);
    if (task === undefined) throw new Error(`There is no task ${id}. The board has ${this.#tasks.map(({ id }) => id).join(", ")}.`);
    return task;
  }

  /** Scrolls the board, and never the page: the visitor may be reading elsewhere. @param {HTMLElement} card */
  #reveal(card) {
    const behavior = isCalm() ? "auto" : "smooth";
    const list = /** @type {HTMLElement} */ (card.parentElement);
    const [inner, outer] = [card.getBoundingClientRect(), list.getBoundingClientRect()];
    if (inner.top < outer.top || inner.bottom > outer.bottom) list.scrollBy({ top: inner.top - outer.top - 8, behavior });
    const board = this.#root.getBoundingClientRect();
    if (inner.left < board.left || inner.right > board.right) this.#root.scrollBy({ left: inner.left - board.left - 24, behavior });
  }

  /** @param {string} key */
  #column(key) {
    return /** @type {{ list: HTMLElement, count: HTMLElement }} */ (this.#columns.get(key));
  }

  #recount() {
    for (const [key, { list, count }] of this.#columns) {
      count.textContent = String(list.children.length);
      this.#root.querySelector(`[data-column="${key}"]`)?.classList.toggle("is-empty", list.children.length === 0);
    }
  }

  /** @param {Task} task */
  #card(task) {
    const card = el("li.card", { "data-task": task.id });
    this.#cards.set(task.id, card);
    this.#fill(card, task);
    return card;
  }

  /** @param {HTMLElement} card @param {Task} task */
  #fill(card, task) {
    const place = COLUMNS.findIndex(([key]) => key === task.column);
    /** @param {number} step @param {string} sign */
    const mover = (step, arrow) => {
      const [key, title] = COLUMNS[place + step] ?? [];
      if (key === undefined) return "";
      const move = () => {
        this.move(task.id, key);
        this.#cards.get(task.id)?.querySelector("button")?.focus();
      };
      return el("button.mover", { type: "button", title: `Move to ${title}`, onclick: move }, ...sign(arrow, `Move ${task.id} to ${title}`));
    };
    card.replaceChildren(
      el("p.card-id", { text: task.id }),
      el("p.card-title", { text: task.title }),
      el("p.card-facts", {}, person(task), el("span", { text: days(task.estimate), title: "Estimate" }), due(task)),
      el("div.movers", {}, mover(-1, "←"), mover(1, "→")),
    );
  }
}

/** @param {Task} task */
function person({ assignee }) {
  if (assignee === null) return el("span.person.is-nobody", { text: "–", title: "Nobody yet" });
  return el("abbr.person", { "data-person": assignee, text: assignee, title: PEOPLE[assignee] });
}

/** @param {Task} task */
function due({ dueInDays, column }) {
  if (dueInDays === null || column === "done") return "";
  const date = new Date();
  date.setDate(date.getDate() + dueInDays);
  const datetime = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  const text =
    dueInDays < 0 ? `${days(-dueInDays)} late` : dueInDays === 0 ? "due today" : dueInDays === 1 ? "due tomorrow" : `due in ${dueInDays} days`;
  const kind = dueInDays < 0 ? "time.due.is-late" : dueInDays <= 2 ? "time.due.is-soon" : "time.due";
  return el(kind, { datetime, text, title: date.toLocaleDateString(undefined, { dateStyle: "medium" }) });
}

/** @param {number} count */
function days(count) {
  return count === 0.5 ? "½ day" : count === 1 ? "1 day" : `${count} days`;
}
