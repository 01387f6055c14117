// The settings of this browser: who is talking, how it looks; and what the server runs.

import { showUsage } from "../server/about.js";
import { signOut, signedIn } from "../server/key.js";
import { keepSurroundings, showSurroundings } from "../server/surroundings.js";
import { memoryChanged } from "../memory/forget.js";
import { showError } from "./banner.js";
import { byId, el } from "./dom.js";
import { settings } from "./settings.js";
import { LANGUAGES, t } from "./words.js";

/** Wire the dialog; `onUser` hears that somebody else talks now. */
export function startSettings(onUser) {
  byId("language").append(...Object.entries(LANGUAGES).map(([value, name]) => el("option", { value, lang: value }, name)));
  byId("open-settings").onclick = () => openSettings(onUser);
  byId("sign-out").onclick = signOut;
  byId("settings-cancel").onclick = () => byId("settings").close();
}

function openSettings(onUser) {
  const dialog = byId("settings");
  const before = settings.user;
  byId("user").value = before;
  byId("user").disabled = settings.bound !== null;
  byId("user-note").textContent = settings.bound === null ? "" : t("your_key");
  byId("sign-out").hidden = !signedIn();
  byId("theme").value = settings.theme;
  byId("language").value = settings.language;
  byId("users").replaceChildren(...settings.users.map((value) => el("option", { value })));
  showSurroundings();
  dialog.returnValue = "";
  dialog.showModal();
  showUsage().catch(showError);
  dialog.onclose = () => dialog.returnValue === "save" && save(before, onUser).catch(showError);
}

/** What belongs to the user is kept of the one who was talking: it was shown as theirs. */
async function save(before, onUser) {
  const { language } = settings;
  const moved = await keepSurroundings();
  settings.save({ user: byId("user").value.trim() || "default", theme: byId("theme").value, language: byId("language").value });
  if (settings.language !== language) location.reload();
  if (settings.user !== before) onUser();
  else if (moved) memoryChanged();
}
