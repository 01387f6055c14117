// The messages of the conversation in view, as they are seen.

import { byId, el } from "../page/dom.js";
import { markdown } from "./markdown.js";

// Whoever scrolled up further than this is reading, and stays where they are.
const AT_THE_END = 80;
const EXAMPLES = ["My sister Ada's birthday is on 4 December.", "I moved to Oslo last week.", "What did I tell you about my sister?"];

/** Empties the log. */
export const clearLog = () => byId("log").replaceChildren();

/** What an empty conversation says; `onExample` gets a text to begin with. */
export function welcome(onExample) {
  byId("log").replaceChildren(el("div", { class: "welcome" },
    el("h2", {}, "What shall I remember?"),
    el("p", {}, "Tell me about your days, plans, people. Ask later, here or in another conversation: I answer from what you said, with its date."),
    el("ul", { class: "examples" }, EXAMPLES.map((text) =>
      el("li", {}, el("button", { type: "button", onclick: () => onExample(text) }, text))))));
}

/** Says in the log that there is nothing to show. */
export function sayNothing(text) {
  byId("log").replaceChildren(el("p", { class: "welcome" }, text));
}

/** Puts a message into the log and gives its body. */
export function say(role, text) {
  byId("log").querySelector(".welcome")?.remove();
  const body = el("div", { class: "text" }, role === "user" ? text : markdown(text));
  const who = el("span", { class: "unseen" }, role === "user" ? "You: " : "Assistant: ");
  byId("log").append(el("div", { class: `message ${role}` }, who, body));
  scrollDown();
  return body;
}

/** A message that grows; drawn once a frame, however many pieces come. */
export function growing(body) {
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

/** Show the end of the log. */
export function scrollDown() {
  byId("log").scrollTop = byId("log").scrollHeight;
}

function isAtTheEnd() {
  const { scrollHeight, scrollTop, clientHeight } = byId("log");
  return scrollHeight - scrollTop - clientHeight < AT_THE_END;
}
