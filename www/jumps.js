// The bar at the foot of a narrow screen: it says where something happened out of sight.
import { el, find } from "./dom.js";

/** @typedef {"board" | "assistant" | "calls"} Place */

export class Jumps {
  /** @type {Map<string, { link: HTMLElement, inSight: boolean }>} */ #places = new Map();

  /** @param {HTMLElement} nav */
  constructor(nav) {
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const place = this.#places.get(target.id);
        if (place === undefined) continue;
        place.inSight = isIntersecting;
        if (isIntersecting) find(".news", place.link).hidden = true;
      }
    }, { rootMargin: "-120px 0px" });
    for (const link of nav.querySelectorAll("a")) {
      link.append(el("span.news", { hidden: true }, el("span.visually-hidden", { text: " (something new)" })));
      const section = find(link.hash);
      this.#places.set(section.id, { link, inSight: true });
      watch.observe(section);
    }
  }

  /** @param {Place} id */
  news(id) {
    const place = this.#places.get(id);
    if (place !== undefined && !place.inSight) find(".news", place.link).hidden = false;
  }
}
