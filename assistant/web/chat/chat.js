// The conversation in view: what was said, and the answer that streams in.

import { openCorrection } from "../memory/correct.js";
import { forgetRound, forgetSession, memoryChanged } from "../memory/forget.js";
import { announce } from "../page/announce.js";
import { hideError, showError } from "../page/banner.js";
import { copyButton } from "../page/copy.js";
import { day } from "../page/dates.js";
import { byId, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { Refused, ask, path } from "../server/api.js";
import { isReader, mayForget, other } from "../server/space.js";
import { streamChat } from "../server/stream.js";
import { keepTrace, remembered, traceOf } from "../why/traces.js";
import { hideWhy, showWhy } from "../why/why.js";
import { focusDraft, giveBack, leaveTo, setBusy, startComposer, write } from "./composer.js";
import { clearLog, growing, keepingTheEnd, say, sayNothing, sayWithdrawn, scrollDown, welcome } from "./log.js";
import { model } from "./model.js";
import { content } from "./picture.js";
import { hideTitle, showTitle, startTitle } from "./title.js";
import { letGoOfReplaced, removed, replacedIn, understood, wordsOf } from "./understood.js";
import { t } from "../page/words.js";

// Older messages of a conversation are recalled from memory like those of any other.
const SENT_ALONG = 20;

// `stale`: whether memory changed under it. `unsent`: what failed, so that sending it is a retry.
// `changing`: whether it is the view itself that tells of a change.
const chat = { id: null, session: null, messages: [], stopper: null, unsent: null, stale: false, changing: false };
let begun = null;

/** Begin a new conversation. */
export function newChat() {
  reset(null);
  hideTitle();
  welcome((text) => (write(text), focusDraft()));
  focusDraft();
}

/** Show a conversation as it is remembered. */
export async function openChat(id) {
  if (id === chat.id && chat.messages.length && !chat.stale) return;
  reset(id);
  try {
    const session = await ask("GET", path`/v1/sessions/${id}`, { query: { user_id: settings.user } });
    if (chat.id !== id) return; // another one was opened meanwhile
    clearLog();
    showHead(session);
    leaveTo(other(session.data[0]));
    session.data.forEach(showRound);
    scrollDown();
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "session_not_found") return showError(error);
    hideTitle();
    sayNothing(t("not_remembered_chat"));
  }
}

/** Wire the parts; `onBegun` hears the id of a session when it comes into being. */
export function startChat(onBegun, onForgotten) {
  begun = onBegun;
  startComposer({ onSend: send, onStop: stop });
  startTitle();
  byId("forget-session").onclick = () =>
    forgetSession(chat.session).then((forgotten) => forgotten && onForgotten(), showError);
}

/**
 * Show again what memory now says of the conversation in view. Its own answer changes nothing, and
 * what another tab changes while one is under way is shown after it.
 */
export function refreshChat({ shown, gone, elsewhere }) {
  if (gone === chat.id && !elsewhere) return;
  const isAnswering = chat.stopper !== null || chat.changing;
  chat.stale = chat.id !== null && chat.messages.length > 0 && (elsewhere || !isAnswering);
  if (chat.stale && shown && !isAnswering) openChat(chat.id);
}

/** Stop the answer under way; it is not remembered. */
export function stop() {
  chat.stopper?.abort();
}

/** Whether there is a conversation in view. */
export const isBegun = () => chat.id !== null;

/** Show why the latest answer is what it is. */
export function explainLatest() {
  byId("log").lastElementChild?.querySelector(".why")?.click();
}

function reset(id) {
  stop();
  Object.assign(chat, { id, session: null, messages: [], stopper: null, unsent: null, stale: false });
  clearLog();
  hideWhy();
  hideError();
  setBusy(false);
  leaveTo(null);
}

function showHead(session) {
  chat.session = session;
  keepingTheEnd(() => (session ? showTitle(session) : hideTitle()));
}

const readHead = (id) =>
  ask("GET", path`/v1/sessions/${id}`, { query: { user_id: settings.user } }).then(
    (session) => chat.id === id && showHead(session), showError);

function showRound(value) {
  const earlier = [...chat.messages];
  const { user_text: text, assistant_text: answer } = value;
  for (const [role, content] of [["user", text], ["assistant", answer]]) {
    if (!content) continue;
    chat.messages.push({ role, content, id: value.id });
    say(role, content, { by: role === "user" ? other(value) : null }).dataset.round = value.id;
  }
  const message = value.answer_withdrawn ? sayWithdrawn() : byId("log").lastElementChild;
  const key = traceOf(value.id)?.key;
  message.append(under(message, { id: value.id, text, answer, earlier, key, kept: true, value }));
}

function send(text, how) {
  const key = chat.unsent?.text === text ? chat.unsent.key : randomId();
  const question = say("user", [text, how.picture?.name].filter(Boolean).join("\n"));
  answer({ text, ...how, kept: how.kept && !isReader(), key, earlier: [...chat.messages], question });
}

/**
 * Have a message answered, or answered again: then in the place of the message `instead`. What was
 * asked as of an earlier day is no part of the conversation, nor is what was wished to be forgotten.
 */
async function answer({ instead, ...said }) {
  chat.id ??= `web-${randomId()}`;
  const { id } = chat;
  const stopper = (chat.stopper = new AbortController());
  setBusy(true);
  hideError();
  announce(t("answering"));
  const message = say("assistant", "", { instead });
  message.classList.add("coming");
  const growth = growing(message);
  let thoughts = "";
  const onThought = (thought) => {
    thoughts += thought;
    message.querySelector(".text").dataset.thought = thoughts.trim().split("\n").at(-1);
  };
  try {
    const options = { signal: stopper.signal, headers: sentAgain(said), onText: growth.add, onThought };
    const memory = await streamChat(body(id, said), options);
    const whole = growth.finish();
    const line = understood(memory, () => undo(memory.round_id, message).catch(showError));
    announce(line ? `${whole}\n\n${wordsOf(line)}` : whole);
    if (chat.id !== id) return;
    if (line) message.append(line);
    answered({ ...said, answer: whole, memory }, message);
    if (memory?.round_id) kept(id);
    else if (said.kept) await letGo({ everything: true }); // it may have been a wish to forget
  } catch (error) {
    if (chat.id === id) failed(error, said, { message, instead });
  } finally {
    message.classList.remove("coming");
    if (chat.id === id) {
      chat.stopper = null;
      setBusy(false);
      focusDraft();
      if (chat.stale) openChat(id);
    }
  }
}

/** What says that it is the same message: its key, as long as this page knows it. */
const sentAgain = ({ key }) => (key ? { "Idempotency-Key": key } : { "X-Stainless-Retry-Count": "1" });

function answered({ memory, ...said }, message) {
  const { text, asOf, earlier, key, question } = said;
  const id = memory?.round_id;
  if (!asOf && (id || !said.kept)) chat.messages = [...earlier, { role: "user", content: text, id }, { role: "assistant", content: said.answer, id }];
  if (id) {
    if (isExplained(memory)) keepTrace(id, { memory, question: text, key });
    for (const one of [question, message]) if (one) one.dataset.round = id;
  }
  message.append(under(message, { ...said, id, memory }));
  chat.unsent = null;
  scrollDown();
}

/** Whether memory was asked for it: not for a greeting, nor for a wish to forget. */
const isExplained = (memory) => memory && Object.keys(memory.timings).length > 0;

function kept(id) {
  const isNew = chat.session === null;
  readHead(id);
  if (isNew) begun(id);
  memoryChanged();
}

/** Forgets a message that was kept, and its reply; both stay in view as places only. */
async function undo(id, message) {
  const button = message.querySelector(".understood button");
  button.disabled = true;
  try {
    await ask("DELETE", path`/v1/memories/${id}`, { query: { user_id: settings.user } });
  } catch (error) {
    button.disabled = false;
    throw error;
  }
  hideWhy();
  await letGo({ id });
  message.querySelector(".text").replaceChildren();
  message.append(removed());
  announce(t("removed_aloud"));
  focusDraft();
}

/** What memory has no more goes from view, and is not sent along any more. */
async function letGo(erased) {
  const { id } = chat;
  chat.changing = true;
  memoryChanged(erased);
  chat.changing = false;
  const log = byId("log");
  const shown = [...log.querySelectorAll("[data-round]")];
  const there = await remembered([...new Set([...shown.map(({ dataset }) => dataset.round), ...replacedIn(log)])]);
  const isGone = (id, isAnswer) => id && (!there.has(id) || (isAnswer && there.get(id).answer_withdrawn));
  if (chat.id !== id) return;
  if (shown.some(({ dataset }) => there.has(dataset.round))) readHead(id);
  else showHead(null);
  // Earlier requests share these messages: when they are made again, they send none that is gone.
  for (const one of chat.messages) one.isGone ||= isGone(one.id, one.role === "assistant");
  for (const message of shown) {
    const { round } = message.dataset;
    if (replacedIn(message).some((older) => !there.has(older))) letGoOfReplaced(message);
    if (!isGone(round, message.matches(".assistant"))) continue;
    message.querySelector(".text").replaceChildren(el("span", { class: "faint" }, t("forgotten_place")));
    message.querySelector(".under")?.remove();
    if (!there.has(round)) message.querySelector(".understood")?.remove();
  }
}

function body(id, { text, picture, kept, asOf, earlier }) {
  const memory = kept ? "on" : "read_only";
  return {
    model: model(),
    messages: [...(asOf ? [] : earlier.filter((one) => !one.isGone).slice(-SENT_ALONG)).map(({ role, content }) => ({ role, content })), { role: "user", content: content(text, picture) }],
    metadata: { user_id: settings.user, session_id: id, memory, memory_debug: "1", ...(asOf && { as_of: asOf }) },
  };
}

/** What can be done about an answer: all of it when it is in view, the latest can be made again. */
function under(message, said) {
  const { id, text, memory, kept, asOf, value = {} } = said;
  const isOwn = !other(value);
  const button = (label, onclick, name = "") => el("button", { type: "button", class: `quiet ${name}`, onclick }, label);
  const withRound = (act) => () =>
    ask("GET", path`/v1/memories/${id}`, { query: { user_id: settings.user } }).then(act).catch(showError);
  const again = () => chat.stopper ?? answer({ ...said, instead: message });
  const why = () => showWhy(isExplained(memory) ? { ...memory, as_of: asOf } : traceOf(id).memory, text, message).catch(showError);
  return el("p", { class: "under" },
    isExplained(memory) || traceOf(id) ? button(t("why_button"), why, "why") : null,
    said.answer ? copyButton(() => said.answer) : null,
    (text || said.picture) && isOwn && (id || !kept) ? button(t("regenerate"), again, "again") : null,
    id && isOwn ? button(t("correct"), withRound(openCorrection)) : null,
    id && mayForget(value) ? button(t("forget"), withRound(forgetRound)) : null,
    kept ? null : el("span", { class: "faint" }, asOf ? t("as_of_unkept", { day: day(asOf) }) : t("unkept_mark")));
}

/** What was written goes back to where it can be sent again; an answer that was there stays. */
function failed(error, { text, key, kept, asOf, picture = null, question }, { message, instead }) {
  const isStopped = error.name === "AbortError";
  if (instead) message.replaceWith(instead);
  else if (isStopped) message.append(el("p", { class: "under faint" }, t("stopped")));
  if (isStopped) return;
  if (!instead) {
    question.remove();
    message.remove();
    chat.unsent = { text, key };
    giveBack(text, { kept, asOf, picture });
  }
  showError(error);
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
