// Asking as of an earlier day: what was said later does not count, and nothing is remembered.

import { byId } from "../page/dom.js";

/** The day that questions are asked as of; undefined for now. */
export const asOf = () => (byId("ask-as-of").checked && byId("as-of-day").value) || undefined;

/** Wire the control. */
export function startAsOf() {
  byId("ask-as-of").onchange = () => {
    const asked = byId("ask-as-of").checked;
    byId("as-of-field").hidden = !asked;
    byId("unkept").disabled = asked;
    if (asked) byId("as-of-day").focus();
  };
}
