// Putting right what is remembered: what either side said, or the facts.

import { byId } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";
import { memoryChanged } from "./forget.js";
import { t } from "../page/words.js";

/** Opens the form for a memory. What was said before is nowhere found again. */
export function openCorrection(value) {
  const dialog = byId("correct");
  const before = { user_text: value.user_text, assistant_text: value.assistant_text, facts: value.facts.map(({ text }) => text).join("\n") };
  for (const [name, text] of Object.entries(before)) byId(`correct-${name}`).value = text;
  byId("correct-error").textContent = "";
  byId("correct-form").onsubmit = (event) => {
    event.preventDefault();
    save(value, before, dialog);
  };
  byId("correct-cancel").onclick = () => dialog.close();
  dialog.showModal();
}

async function save(value, before, dialog) {
  const send = changes(value, before);
  try {
    if (Object.keys(send).length) {
      await ask("PATCH", path`/v1/memories/${value.id}`, { send, query: { user_id: settings.user } });
      memoryChanged({ id: value.id });
      notice(t("corrected"));
    }
    dialog.close();
  } catch (error) {
    byId("correct-error").textContent = error.message;
  }
}

/** Only what was changed; facts that stay as they are keep their days. */
function changes(value, before) {
  const now = Object.fromEntries(Object.keys(before).map((name) => [name, byId(`correct-${name}`).value.trim()]));
  const send = Object.fromEntries(Object.entries(now).filter(([name, text]) => text !== before[name].trim()));
  if (send.facts !== undefined) {
    const lines = send.facts.split("\n").map((line) => line.trim()).filter(Boolean);
    send.facts = lines.map((text) => stated(text, value.facts));
  }
  return send;
}

function stated(text, known) {
  const same = known.find((fact) => fact.text === text);
  return same ? { text, event_dates: same.event_dates } : { text };
}
