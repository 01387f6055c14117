// The messages of the conversation in view, as they are seen.

import { WITHDRAWN } from "../memory/card.js";
import { byId, el } from "../page/dom.js";
import { markdown } from "./markdown.js";
import { t } from "../page/words.js";

// Whoever scrolled up further than this is reading, and stays where they are.
const AT_THE_END = 80;
const EXAMPLES = ["example_tell", "example_tell_2", "example_ask"].map((key) => t(key));

/** Empties the log. */
export const clearLog = () => byId("log").replaceChildren();

/** What an empty conversation says; `onExample` gets a text to begin with. */
export function welcome(onExample) {
  byId("log").replaceChildren(el("div", { class: "welcome" },
    el("h2", {}, t("welcome")),
    el("p", {}, t("welcome_note")),
    el("ul", { class: "examples" }, EXAMPLES.map((text) =>
      el("li", {}, el("button", { type: "button", onclick: () => onExample(text) }, text))))));
}

/** Says in the log that there is nothing to show. */
export function sayNothing(text) {
  byId("log").replaceChildren(el("p", { class: "welcome" }, text));
}

/** Puts a message into the log, or in the place of another one, and gives it; `by` is who else said it. */
export function say(role, text, { instead, by } = {}) {
  byId("log").querySelector(".welcome")?.remove();
  const body = el("div", { class: "text" }, role === "user" ? text : markdown(text));
  const who = by ? el("b", { class: "faint" }, by) : el("span", { class: "unseen" }, t(role === "user" ? "you_aloud" : "assistant_aloud"));
  const message = el("div", { class: `message ${role}` }, who, body);
  if (instead) instead.replaceWith(message);
  else byId("log").append(message);
  scrollDown();
  return message;
}

/** Says in the place of an answer that it is not kept any more. */
export function sayWithdrawn() {
  const message = say("assistant", "");
  message.querySelector(".text").replaceChildren(el("p", { class: "faint" }, WITHDRAWN));
  return message;
}

/** A message that grows; drawn once a frame, however many pieces come. */
export function growing(message) {
  const body = message.querySelector(".text");
  let whole = "";
  let drawing = null;
  const draw = () => {
    drawing = null;
    const follows = isAtTheEnd();
    body.replaceChildren(...markdown(whole));
    if (follows) scrollDown();
  };
  return {
    add: (piece) => {
      whole += piece;
      drawing ??= requestAnimationFrame(draw);
    },
    finish: () => {
      cancelAnimationFrame(drawing);
      draw();
      return whole;
    },
  };
}

/** Does something that changes the room of the log; whoever saw its end sees it after that. */
export function keepingTheEnd(change) {
  const follows = isAtTheEnd();
  change();
  if (follows) scrollDown();
}

/** Show the end of the log. */
export function scrollDown() {
  byId("log").scrollTop = byId("log").scrollHeight;
}

function isAtTheEnd() {
  const { scrollHeight, scrollTop, clientHeight } = byId("log");
  return scrollHeight - scrollTop - clientHeight < AT_THE_END;
}
