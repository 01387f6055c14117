// The time zone and the first day of the week that the server keeps of a user, as the settings show them.

import { WEEKDAYS, weekday } from "../page/dates.js";
import { byId, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { kept } from "../page/surroundings.js";
import { ask, path } from "./api.js";

const where = () => path`/v1/users/${settings.user}/surroundings`;
const chosen = () => ({ timezone: byId("timezone").value || null, week_begins: byId("week-begins").value || null });

/** Learn what is kept of the user. */
export async function readSurroundings() {
  const { timezone, week_begins } = await ask("GET", where());
  Object.assign(kept, { timezone, week_begins });
}

/** Fill the fields of the settings, and choose what is kept. */
export function showSurroundings() {
  fill("timezone", [...new Set([...Intl.supportedValuesOf("timeZone"), "UTC", kept.timezone ?? "UTC"])], (zone) => zone.replaceAll("_", " "));
  fill("week-begins", WEEKDAYS, weekday);
  byId("timezone").value = kept.timezone ?? "";
  byId("week-begins").value = kept.week_begins ?? "";
}

function fill(id, values, nameOf) {
  const [asTheBrowser] = byId(id).options;
  byId(id).replaceChildren(asTheBrowser, ...values.map((value) => el("option", { value }, nameOf(value))));
}

/** Keep what was chosen; whether that is another than before. */
export async function keepSurroundings() {
  const send = chosen();
  if (send.timezone === kept.timezone && send.week_begins === kept.week_begins) return false;
  await ask("PUT", where(), { send });
  Object.assign(kept, send);
  return true;
}
