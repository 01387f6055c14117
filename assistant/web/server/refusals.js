// What a refusal means to the person who reads it, before the server's own words.

import { t } from "../page/words.js";

const TITLES = {
  not_yours: () => t("refused_not_yours"),
  role_required: () => t("refused_role"),
  space_not_found: () => t("refused_space"),
  401: () => t("refused_401"),
  403: () => t("refused_403"),
  404: () => t("refused_404"),
  413: () => t("refused_413"),
  429: ({ retryAfter }) => (retryAfter ? t("refused_429_in", { time: seconds(retryAfter) }) : t("refused_429")),
  507: () => t("refused_507"),
};

/** The first sentence of a refusal. */
export function titleOf(refused) {
  const found = TITLES[refused.code] ?? TITLES[refused.status];
  if (found) return found(refused);
  return t(refused.status >= 500 ? "refused_5xx" : "refused_4xx");
}

const seconds = (text) => (Number(text) > 1 ? t("seconds", { count: Math.ceil(Number(text)) }) : t("a_second"));
