// The shared spaces of the user: who is in them, in which role, and what may be done about that.

import { showError } from "../page/banner.js";
import { confirmed } from "../page/confirm.js";
import { day } from "../page/dates.js";
import { byId, counted, el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { t } from "../page/words.js";
import { ask, path } from "../server/api.js";
import { goTo, readSpaces, spaces } from "../server/space.js";

const ROLES = { reader: t("space_reader"), member: t("space_member"), owner: t("space_owner") };

const mine = (send) => ({ user_id: settings.user, ...send });

/** Wire the form that begins a space. */
export function startSpaces() {
  byId("begin-space").onsubmit = (event) => {
    event.preventDefault();
    change(() => ask("POST", "/v1/spaces", { send: mine({ name: byId("space-name").value }) }), () => byId("space-name").value);
  };
}

/** Show every space as it is now. */
export async function showSpaces() {
  await readSpaces();
  const query = mine();
  const found = await Promise.all(spaces().map(({ space }) => ask("GET", path`/v1/spaces/${space}`, { query })));
  const none = el("p", { class: "faint" }, t("no_spaces"));
  byId("space-list").replaceChildren(...(found.length ? found.map(card) : [none]));
}

/** Do something, show what became of it, and say so. */
async function change(act, said) {
  try {
    await act();
    notice(typeof said === "string" ? said : said());
    byId("begin-space").reset();
    await showSpaces();
  } catch (error) {
    showError(error);
  }
}

function card(shared) {
  const owns = shared.role === "owner";
  return el("article", { class: "card" },
    el("h2", {}, shared.name),
    el("p", { class: "faint" }, `${ROLES[shared.role]} · ${counted(shared.rounds, "memory")}`),
    el("ul", { class: "members" }, shared.members.map((member) => row(shared, member, owns))),
    owns ? addForm(shared) : null,
    el("p", { class: "actions" },
      button(t("open_space"), () => speakIn(shared)),
      button(t("leave_space"), () => leave(shared, {}, "leave_space_note")),
      button(t("leave_space_forgetting"), () => leave(shared, { forget: true }, "leave_space_note_forgetting")),
      owns ? button(t("end_space"), () => end(shared)) : null));
}

const button = (label, onclick) => el("button", { type: "button", class: "quiet", onclick }, label);

function row(shared, { user_id: user, role, since }, owns) {
  const choice = roleChoice(role, t("space_role_of", { user }));
  choice.onchange = () => give(shared, user, choice.value);
  return el("li", {},
    el("span", { class: "grow" }, el("b", {}, user), " ", el("span", { class: "faint" }, t("member_since", { day: day(since) }))),
    owns ? choice : el("span", { class: "tag" }, ROLES[role]),
    owns && user !== settings.user ? button(t("remove_member"), () => remove(shared, user)) : null);
}

function roleChoice(role, ariaLabel) {
  const options = Object.entries(ROLES).map(([value, name]) => el("option", { value }, name));
  const choice = el("select", { ariaLabel }, options);
  choice.value = role;
  return choice;
}

function addForm(shared) {
  const user = el("input", { required: true, maxLength: 256, autocomplete: "off", spellcheck: false });
  const role = roleChoice("member", t("space_role"));
  const onsubmit = (event) => (event.preventDefault(), give(shared, user.value.trim(), role.value));
  return el("form", { class: "ask", onsubmit },
    el("label", { class: "grow" }, t("user"), user),
    role,
    el("button", { type: "submit" }, t("add_member")));
}

const memberPath = ({ space }, user) => path`/v1/spaces/${space}/members/${user}`;

const give = (shared, user, role) =>
  change(() => ask("PUT", memberPath(shared, user), { send: mine({ role }) }), `${user}: ${ROLES[role]}`);

function speakIn({ space }) {
  location.hash = "#/chat";
  goTo(space);
}

async function remove(shared, user) {
  const note = t("remove_member_note", { user, name: shared.name });
  if (!(await confirmed(t("remove_member_title"), note, t("remove_member")))) return;
  await change(() => ask("DELETE", memberPath(shared, user), { query: mine() }), t("not_a_member", { user }));
}

async function leave(shared, how, noted) {
  const note = t(noted, { name: shared.name, warning: t("no_undo") });
  if (!(await confirmed(t("leave_space_title"), note, t("leave_space")))) return;
  await change(() => ask("DELETE", memberPath(shared, settings.user), { query: mine(how) }), t("left_space"));
}

async function end({ space, name, rounds }) {
  const note = t("end_space_note", { name, memories: counted(rounds, "memory"), warning: t("no_undo") });
  if (!(await confirmed(t("end_space_title"), note, t("end_space")))) return;
  await change(() => ask("DELETE", path`/v1/spaces/${space}`, { query: mine() }), t("space_ended"));
}
