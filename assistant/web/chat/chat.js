// The conversation in view: what was said, and the answer that streams in.

import { openCorrection } from "../memory/correct.js";
import { forgetRound, forgetSession, memoryChanged } from "../memory/forget.js";
import { announce } from "../page/announce.js";
import { hideError, showError } from "../page/banner.js";
import { day } from "../page/dates.js";
import { byId, counted, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { Refused, ask, path } from "../server/api.js";
import { streamChat } from "../server/stream.js";
import { showWhy } from "../why/why.js";
import { focusDraft, giveBack, setBusy, startComposer, write } from "./composer.js";
import { clearLog, growing, say, sayNothing, scrollDown, welcome } from "./log.js";

// Older messages of a conversation are recalled from memory like those of any other.
const SENT_ALONG = 20;

// `stale`: whether memory changed under it. `unsent`: what failed, so that sending it is a retry.
const chat = { id: null, session: null, messages: [], stopper: null, unsent: null, stale: false };

// How answers came about, by the round that they became.
const traces = new Map();

/** Begin a new conversation. */
export function newChat() {
  reset(null);
  byId("chat-head").hidden = true;
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
    session.data.forEach(showRound);
    scrollDown();
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "session_not_found") return showError(error);
    byId("chat-head").hidden = true;
    sayNothing("This conversation is not remembered.");
  }
}

/** Wire the parts; `onBegun` hears the id of a session when it comes into being. */
export function startChat(onBegun, onForgotten) {
  startComposer({ onSend: (text, how) => send(text, how, onBegun), onStop: stop });
  byId("forget-session").onclick = () =>
    forgetSession(chat.session).then((forgotten) => forgotten && onForgotten(), showError);
}

/** Show again what memory now says of the conversation in view; its own answer changes nothing. */
export function refreshChat({ shown, gone }) {
  if (gone === chat.id) return;
  chat.stale = chat.id !== null && chat.messages.length > 0 && !chat.stopper;
  if (chat.stale && shown) openChat(chat.id);
}

/** Stop the answer under way; it is not remembered. */
export function stop() {
  chat.stopper?.abort();
}

/** Show why the latest answer that can be explained is what it is. */
export function explainLatest() {
  [...byId("log").querySelectorAll(".why")].at(-1)?.click();
}

function reset(id) {
  stop();
  Object.assign(chat, { id, session: null, messages: [], stopper: null, unsent: null, stale: false });
  clearLog();
  hideError();
  setBusy(false);
}

function showHead(session) {
  chat.session = session;
  byId("chat-head").hidden = false;
  byId("chat-title").textContent = day(session.started_at);
  byId("chat-rounds").textContent = counted(session.rounds, "round");
}

function showRound(value) {
  for (const [role, text] of [["user", value.user_text], ["assistant", value.assistant_text]]) {
    if (!text) continue;
    chat.messages.push({ role, content: text });
    say(role, text);
  }
  byId("log").lastElementChild.append(under({ id: value.id, ...traces.get(value.id) }));
}

async function send(text, { kept, asOf }, onBegun) {
  chat.id ??= `web-${randomId()}`;
  const key = chat.unsent?.text === text ? chat.unsent.key : randomId();
  const { id } = chat;
  const stopper = (chat.stopper = new AbortController());
  setBusy(true);
  hideError();
  announce("Answering.");
  const question = say("user", text).parentElement;
  const answer = say("assistant", "").parentElement;
  answer.classList.add("coming");
  const growth = growing(answer.querySelector(".text"));
  try {
    const options = { signal: stopper.signal, headers: { "Idempotency-Key": key }, onText: growth.add };
    const memory = await streamChat(body(id, text, { kept, asOf }), options);
    const whole = growth.finish();
    announce(whole);
    if (chat.id !== id) return;
    answered({ text, whole, memory, kept, asOf }, answer);
    if (kept) remembered(id, onBegun);
  } catch (error) {
    if (chat.id === id) failed(error, { question, answer, text, key });
  } finally {
    answer.classList.remove("coming");
    if (chat.id === id) {
      chat.stopper = null;
      setBusy(false);
      focusDraft();
    }
  }
}

/** What was asked as of an earlier day is no part of the conversation. */
function answered({ text, whole, memory, kept, asOf }, answer) {
  if (!asOf) chat.messages.push({ role: "user", content: text }, { role: "assistant", content: whole });
  const id = memory?.round_id;
  if (id) traces.set(id, { memory, question: text });
  answer.append(under({ id, memory, question: text, kept, asOf }));
  chat.unsent = null;
  scrollDown();
}

function remembered(id, onBegun) {
  const begun = chat.session === null;
  ask("GET", path`/v1/sessions/${id}`, { query: { user_id: settings.user } }).then(
    (session) => chat.id === id && showHead(session), showError);
  if (begun) onBegun(id);
  memoryChanged();
}

function body(id, text, { kept, asOf }) {
  const earlier = asOf ? [] : chat.messages.slice(-SENT_ALONG);
  const memory = kept ? "on" : "read_only";
  return {
    model: "aide-memoire",
    messages: [...earlier, { role: "user", content: text }],
    metadata: { user_id: settings.user, session_id: id, memory, memory_debug: "1", ...(asOf && { as_of: asOf }) },
  };
}

function under({ id, memory, question, kept = true, asOf }) {
  const button = (label, onclick, name = "") => el("button", { type: "button", class: `quiet ${name}`, onclick }, label);
  const withRound = (act) => () =>
    ask("GET", path`/v1/memories/${id}`, { query: { user_id: settings.user } }).then(act).catch(showError);
  return el("p", { class: "under" },
    memory ? button("Why this answer?", () => showWhy({ ...memory, as_of: asOf }, question), "why") : null,
    id ? [button("Correct", withRound(openCorrection)), button("Forget", withRound(forgetRound))] : null,
    kept ? null : el("span", { class: "faint" }, asOf ? `as of ${day(asOf)}, not remembered` : "not remembered"));
}

/** What was written goes back to where it can be sent again. */
function failed(error, { question, answer, text, key }) {
  if (error.name === "AbortError") {
    answer.append(el("p", { class: "under faint" }, "Stopped, and not remembered."));
    return;
  }
  question.remove();
  answer.remove();
  chat.unsent = { text, key };
  giveBack(text);
  showError(error);
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
