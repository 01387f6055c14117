// The page: which view is shown, and what the parts of it hear of each other.

import { explainLatest, isBegun, newChat, openChat, refreshChat, startChat, stop } from "./chat/chat.js";
import { readModels } from "./chat/model.js";
import { markSession, readSessions } from "./chat/sessions.js";
import { changedElsewhere } from "./memory/forget.js";
import { refreshMemories, showMemories, startMemories } from "./memory/memories.js";
import { showError } from "./page/banner.js";
import { byId } from "./page/dom.js";
import { isMenuShown, showMenu, startMenu } from "./page/menu.js";
import { showTheme } from "./page/settings.js";
import { showSpaces, startSpaces } from "./memory/spaces.js";
import { startSettings } from "./page/settings_dialog.js";
import { startShortcuts } from "./page/shortcuts.js";
import { hearTabs } from "./page/tabs.js";
import { readAbout } from "./server/about.js";
import { startKeys } from "./server/key.js";
import { readSpaces } from "./server/space.js";
import { readSurroundings } from "./server/surroundings.js";
import { hideWhy } from "./why/why.js";
import { speak, t } from "./page/words.js";

const VIEWS = { memories: showMemories, spaces: () => showSpaces().catch(showError) };
let known = false; // who we are to the server

speak();
startKeys();
startMenu();
startMemories();
startSpaces();
startChat(begun, begin);
startSettings(changeUser);
startShortcuts({
  "Alt+KeyN": begin,
  "Alt+KeyM": () => (location.hash = "#/memories"),
  "Alt+KeyW": explainLatest,
  Escape: escape,
});
for (const button of document.querySelectorAll(".new-chat")) button.onclick = begin;
window.addEventListener("hashchange", route);
document.addEventListener("memory-changed", ({ detail }) => changed(detail));
document.addEventListener("space-changed", moved);
document.addEventListener("space-lost", () => readSpaces().catch(showError));
hearTabs({ onMemory: changedElsewhere, onSetting: follow });
document.addEventListener("server-back", () => (known ? showAgain() : enter()));
document.addEventListener("signed-in", enter);
enter();

/** Learn who we are to the server, then show what was asked for. */
async function enter() {
  try {
    await readAbout();
    readModels().catch(showError);
    await readSurroundings();
    await readSpaces();
    const isWritten = !known && isBegun(); // before the server told who we are
    known = true;
    readSessions();
    if (!isWritten) route();
  } catch (error) {
    newChat();
    showError(error);
  }
}

function route() {
  const [, view, id] = location.hash.match(/^#\/(\w+)\/?(.*)$/) ?? [];
  if (!known || (!view && location.hash)) return; // the latter is the skip link
  const isChat = !(view in VIEWS);
  for (const name of Object.keys(VIEWS)) {
    byId(name).hidden = name !== view;
    byId(`to-${name}`).ariaCurrent = name === view ? "page" : null;
  }
  byId("chat").hidden = !isChat;
  document.title = isChat ? "Aide-mémoire" : `${byId(`to-${view}`).textContent} · Aide-mémoire`;
  hideWhy();
  showMenu(false);
  if (!isChat) VIEWS[view]();
  else if (id) openChat(decodeURIComponent(id));
  else newChat();
  markSession(isChat ? decodeURIComponent(id ?? "") : null);
}

function begin() {
  if (location.hash === "#/chat" || !location.hash) route();
  else location.hash = "#/chat";
}

function begun(id) {
  history.replaceState(null, "", `#/chat/${encodeURIComponent(id)}`);
  readSessions().then(() => markSession(id));
}

function changed({ gone, elsewhere } = {}) {
  refreshChat({ shown: !byId("chat").hidden, gone, elsewhere });
  if (byId("memories").hidden) readSessions();
  else refreshMemories().catch(showError);
}

function showAgain() {
  readAbout().catch(showError);
  changed();
}

async function changeUser() {
  readAbout().catch(showError);
  await readSurroundings().catch(showError);
  await readSpaces().catch(showError);
  readSessions();
  begin();
}

/** Another memory is spoken in, and shown. */
function moved() {
  if (!known) return;
  readSessions();
  if (byId("chat").hidden) route();
  else begin();
}

/** Another tab changed a setting of this browser: who talks, how it looks, the language, the key. */
function follow(setting) {
  if (setting === "theme") showTheme();
  else if (setting === "user" || setting === "space") changeUser();
  else if (setting === "key" || setting === "language") location.reload();
}

function escape() {
  if (isMenuShown()) showMenu(false);
  else if (!byId("why").hidden) hideWhy();
  else stop();
}
