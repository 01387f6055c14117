// What is being written, and how it is to be taken. That something is not to be remembered holds for
// one message.

import { byId } from "../page/dom.js";
import { asOf, startAsOf } from "./as_of.js";
import { startAttachments } from "./attach.js";
import { t } from "../page/words.js";
import { hasPicture, showPicture, takePicture } from "./picture.js";

/** Wire the form; `onSend` gets a text and how it is meant: `{kept, asOf, picture}`. */
export function startComposer({ onSend, onStop }) {
  const draft = byId("draft");
  draft.oninput = grow;
  draft.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  };
  byId("stop").onclick = onStop;
  byId("composer").onsubmit = (event) => {
    event.preventDefault();
    const text = draft.value.trim();
    if ((!text && !hasPicture()) || isBusy()) return;
    const how = { asOf: asOf(), kept: !byId("unkept").checked && !asOf(), picture: takePicture() };
    write("");
    byId("unkept").checked = false;
    onSend(text, how);
  };
  startAsOf();
  startAttachments((text) => (write(text), focusDraft()));
}

/** Put a text where it is written. */
export function write(text) {
  byId("draft").value = text;
  grow();
}

/** Puts back what could not be sent, and how it was meant, unless another text was begun. */
export function giveBack(text, { kept, asOf, picture }) {
  if (byId("draft").value) return;
  showPicture(picture);
  write(text);
  byId("unkept").checked = !kept && !asOf;
}

/** Nothing is written where `name` alone goes on with a conversation. */
export function leaveTo(name) {
  for (const one of byId("composer").querySelectorAll("#space-note, textarea, .tools")) one.hidden = Boolean(name);
  byId("others-note").textContent = name ? t("others_chat", { user: name }) : "";
}

/** While an answer is under way it can be stopped, and nothing is sent. */
export function setBusy(is) {
  byId("stop").hidden = !is;
  byId("send").hidden = is;
}

export const focusDraft = () => byId("draft").focus();

const isBusy = () => byId("send").hidden;

function grow() {
  const draft = byId("draft");
  draft.style.blockSize = "auto";
  draft.style.blockSize = `${draft.scrollHeight + 2}px`;
}
