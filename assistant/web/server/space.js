// Which memory is spoken in and shown: the user's own, or a space that they share with others.

import { byId, el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { t } from "../page/words.js";
import { ask } from "./api.js";

let shared = [];

/** The spaces that the user shares. */
export const spaces = () => shared;

/** The space that is spoken in; undefined in the user's own memory. */
export const here = () => shared.find(({ space }) => space === settings.space);

/** Who said it, where that is another member. */
export const other = ({ said_by: name }) => (here() && name && name !== settings.user ? name : null);

/** Whether the user may forget it, and may do what needs the same. */
export const mayForget = (value) => here()?.role === "owner" || !other(value);

/** Whether the user only reads here. */
export const isReader = () => here()?.role === "reader";

/** Learn which spaces there are. Whoever is no longer in the one they spoke in is in their own memory. */
export async function readSpaces() {
  const { data } = await ask("GET", "/v1/spaces", { query: { user_id: settings.user } });
  shared = data.filter(({ role }) => role);
  if (settings.space && !here()) {
    goTo("");
    notice(t("refused_space"));
  }
  show();
}

/** Speak in a space from now on, or in one's own memory; others hear of it by `space-changed`. */
export function goTo(space) {
  settings.space = space;
  show();
  document.dispatchEvent(new Event("space-changed"));
}

function show() {
  const choice = byId("space");
  const names = [["", t("own_memory")], ...shared.map(({ space, name }) => [space, name])];
  choice.replaceChildren(...names.map(([value, name]) => el("option", { value }, name)));
  choice.value = settings.space;
  choice.onchange = () => goTo(choice.value);
  choice.hidden = !shared.length;
  const name = here()?.name;
  byId("place").textContent = name ?? "Aide-mémoire";
  byId("memory-of").textContent = name ?? "";
  byId("space-note").textContent = name ? t(isReader() ? "in_space_reading" : "in_space", { name }) : "";
  // A shared space takes no import, and is forgotten where its members are.
  for (const id of ["import", "forget-all"]) byId(id).hidden = Boolean(name);
}
