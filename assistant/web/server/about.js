// Which models, store and version the server runs, what they took, and whom it takes us for.

import { byId, counted, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { ask } from "./api.js";
import { t } from "../page/words.js";

const ROLES = { chat_model: t("role_answers"), extract_model: t("role_facts"), query_model: t("role_time") };
const INSTEAD = { chat_model: t("instead_quotes"), extract_model: t("instead_rules"), query_model: t("instead_rules") };

let caller = null;

/** Learn it and show it; a key that is for one user decides who we are. */
export async function readAbout() {
  const about = await ask("GET", "/version");
  caller = about.caller;
  settings.bound = caller.user_id;
  const { chat_model } = about.models;
  byId("models").textContent = chat_model ? t("answers_by", { model: chat_model }) : t("answers_quote");
  byId("who").textContent = settings.user === "default" ? "" : settings.user;
  const lines = {
    ...Object.fromEntries(Object.keys(ROLES).map((role) => [ROLES[role], about.models[role] ?? INSTEAD[role]])),
    [t("embedder")]: about.store.embedder,
    [t("store")]: about.store.engine,
    [t("version")]: about.version,
    ...(caller.label && { [t("your_key_label")]: caller.label }),
  };
  byId("about").replaceChildren(
    ...Object.entries(lines).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
}

/** Show what the language models took since the start, to those who may know. */
export async function showUsage() {
  byId("usage").replaceChildren();
  if (!caller?.scopes.includes("admin")) return;
  const { roles } = await ask("GET", "/v1/usage");
  const used = Object.entries(roles).filter(([, role]) => role.calls);
  byId("usage").replaceChildren(...used.map(([name, role]) =>
    el("p", { class: "faint" }, `${ROLES[`${name.replace("_model", "")}_model`] ?? name}: ${took(role)}`)));
}

function took({ calls, prompt_tokens, completion_tokens, cost }) {
  const parts = [counted(calls, "call"), counted(prompt_tokens + completion_tokens, "token")];
  if (cost) parts.push(`$${cost.toFixed(4)}`);
  return t("since_start", { parts: parts.join(", ") });
}
