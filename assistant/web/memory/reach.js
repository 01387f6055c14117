// Where a memory may go: one control on its card.

import { showError } from "../page/banner.js";
import { counted, el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { t } from "../page/words.js";
import { ask } from "../server/api.js";
import { memoryChanged } from "./forget.js";

/** What the reaches are called, the farthest first. */
export const REACHES = {
  anywhere: t("reach_anywhere"),
  this_computer: t("reach_this_computer"),
  never_in_answers: t("reach_never_in_answers"),
};

/** A choice of where a memory may go from now on. */
export function reachChoice(value) {
  const options = Object.entries(REACHES).map(([reach, name]) => el("option", { value: reach }, name));
  const choice = el("select", { ariaLabel: t("reach") }, options);
  choice.value = value.reach;
  choice.onchange = () => setReach(value, choice).catch((error) => {
    choice.value = value.reach;
    showError(error);
  });
  return choice;
}

/** Answers that repeat it go no farther than it does; rules of the server may keep it closer. */
async function setReach(value, choice) {
  const send = { user_id: settings.user, ids: [value.id], reach: choice.value };
  const { changed } = await ask("POST", "/v1/memories/reach", { send });
  memoryChanged();
  notice(changed ? t("reach_changed", { memories: counted(changed, "memory") }) : t("reach_ruled"));
}
