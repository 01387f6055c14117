// The API key: asked for when the server wants one, kept, and given up.

import { hideError } from "../page/banner.js";
import { byId } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { letGo } from "../why/traces.js";
import { Refused, ask } from "./api.js";
import { t } from "../page/words.js";

/** Wire the dialog. Others hear of a key that opens by `signed-in`. */
export function startKeys() {
  const dialog = byId("sign-in");
  document.addEventListener("key-refused", ({ detail }) => {
    if (detail.key) say(t("key_unknown"));
    if (dialog.open) return;
    byId("key").value = "";
    dialog.showModal();
  });
  byId("sign-in-form").onsubmit = (event) => {
    event.preventDefault();
    signIn(dialog);
  };
  byId("sign-in-cancel").onclick = () => dialog.close();
  dialog.onclose = () => say("");
}

/** Whether there is a key, and so something to sign out of. */
export const signedIn = () => settings.key !== "";

/** Gives the key up; nothing that it opened stays in the page. */
export function signOut() {
  settings.dropKey();
  letGo({ everything: true });
  location.hash = "#/chat";
  location.reload();
}

async function signIn(dialog) {
  const key = byId("key").value.trim();
  if (!key) return say(t("key_first"));
  settings.keepKey(key, byId("keep-key").checked);
  try {
    await ask("GET", "/version");
  } catch (error) {
    if (error instanceof Refused && error.status === 401) settings.dropKey();
    else say(error.message);
    byId("key").select();
    return;
  }
  dialog.close();
  hideError();
  document.dispatchEvent(new Event("signed-in"));
}

function say(text) {
  byId("key-error").textContent = text;
  byId("key").ariaInvalid = String(text !== "");
}
