// Which model answers, where the server offers several over one memory.

import { byId, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { t } from "../page/words.js";
import { ask } from "../server/api.js";

const USUAL = "aide-memoire";
// The page leaves out memory by the message.
const WITHOUT_MEMORY = "aide-memoire-nomem";

let seeing = new Set();

/** Whether the model that is to answer takes pictures. */
export const takesPictures = () => seeing.has(model());

/** The profile that is to answer. */
export const model = () => byId("model").value || USUAL;

/** Offers the profiles of the server, and chooses the one chosen before while it is there. */
export async function readModels() {
  const { data } = await ask("GET", "/v1/models");
  seeing = new Set(data.filter(({ pictures }) => pictures).map(({ id }) => id));
  const names = data.map(({ id }) => id).filter((id) => id !== WITHOUT_MEMORY);
  byId("model").replaceChildren(...names.map((name) => el("option", { value: name }, name === USUAL ? t("model_usual") : name)));
  byId("model").value = names.includes(settings.model) ? settings.model : USUAL;
  byId("model").onchange = () => (settings.model = byId("model").value);
  byId("model-field").hidden = names.length < 2;
}
