// Elements made in code. Strings become text nodes, so nothing that was said is ever read as HTML.

import { tn } from "./words.js";

/** An element with properties (`class`, `onclick`, `ariaLabel`, `data` …) and children. */
export function el(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key === "data") Object.assign(made.dataset, value);
    else made[key] = value;
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** "1 fact", "2 facts", "2 memories". */
export const counted = (count, noun) => tn(`count_${noun}`, count);
