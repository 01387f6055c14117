// A long list in pages. Only those near the view are in the document, the others keep their height,
// so that a memory of any size scrolls and takes no more room than a small one.

import { el } from "../page/dom.js";

// How far from the view a page is read, and let go of again.
const NEAR = "1200px 0px";

export class Pages {
  /**
   * `read` gives the page after a place: `{data, next}`; `show` makes its elements from it and the
   * last value of the page before; `onError` hears what went wrong.
   */
  constructor(list, { root, read, show, onError }) {
    Object.assign(this, { list, read, show, onError, pages: new Map(), closed: false });
    this.observer = new IntersectionObserver((entries) => entries.forEach((one) => this.#seen(one)), { root, rootMargin: NEAR });
  }

  /** Show the list from its beginning; what is read first is returned. */
  async start() {
    const first = await this.read(undefined);
    if (this.closed) return first;
    this.list.replaceChildren();
    this.#fill(this.#append(undefined, null), first);
    return first;
  }

  /** Read again what is shown, where it is. */
  async refresh() {
    await Promise.all([...this.pages.values()].filter((page) => page.shown).map((page) => this.#load(page)));
  }

  /** Nothing of this list is shown any more. */
  close() {
    this.closed = true;
    this.observer.disconnect();
  }

  #append(after, before) {
    const page = { after, before, element: el("div", { class: "page" }), near: true, shown: false, loading: false, last: true };
    this.pages.set(page.element, page);
    this.list.append(page.element);
    this.observer.observe(page.element);
    return page;
  }

  #seen({ target, isIntersecting }) {
    const page = this.pages.get(target);
    page.near = isIntersecting;
    if (isIntersecting && !page.shown) this.#load(page);
    else if (!isIntersecting && page.shown) this.#empty(page);
  }

  async #load(page) {
    if (page.loading) return;
    page.loading = true;
    try {
      const found = await this.read(page.after);
      if (!this.closed && page.near) this.#fill(page, found);
    } catch (error) {
      if (!this.closed) this.onError(error);
    } finally {
      page.loading = false;
    }
  }

  #fill(page, found) {
    page.element.replaceChildren(...this.show(found.data, page.before));
    page.element.style.blockSize = "";
    page.shown = true;
    if (page.last && found.next) {
      page.last = false;
      this.#append(found.next, found.data.at(-1));
    }
  }

  /** What has the focus stays. */
  #empty(page) {
    if (page.element.contains(document.activeElement)) return;
    page.element.style.blockSize = `${page.element.offsetHeight}px`;
    page.element.replaceChildren();
    page.shown = false;
  }
}
