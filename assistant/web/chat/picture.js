// A picture that goes with one message, to a model that takes pictures. Memory keeps the text beside it.

import { byId, el } from "../page/dom.js";
import { t } from "../page/words.js";

let chosen = null;

/** Put a picture, `{name, url}`, beside the message that is being written; null takes it away. */
export function showPicture(picture) {
  chosen = picture;
  const place = byId("picture");
  place.hidden = picture === null;
  if (picture === null) return place.replaceChildren();
  const remove = () => {
    showPicture(null);
    byId("draft").focus();
  };
  const label = t("picture_away", { name: picture.name });
  place.replaceChildren(el("span", { class: "tag" }, picture.name), el("button", { type: "button", class: "quiet", ariaLabel: label, title: label, onclick: remove }, "✕"));
}

/** Whether one stands beside the message. */
export const hasPicture = () => chosen !== null;

/** The picture, which then goes with a message and stands beside the next one no more. */
export function takePicture() {
  const taken = chosen;
  showPicture(null);
  return taken;
}

/** What a message says to the model, with its picture. */
export function content(text, picture) {
  if (!picture) return text;
  const image = { type: "image_url", image_url: { url: picture.url } };
  return text ? [{ type: "text", text }, image] : [image];
}
