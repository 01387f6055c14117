// Where the user lives, as the server keeps it. Where it keeps nothing, requests say what the browser says.

import { WEEK_BEGINS, ZONE } from "./dates.js";

/** `{timezone, week_begins}`, null where nothing is kept. */
export const kept = { timezone: null, week_begins: null };

/** The headers that say it. */
export const said = () => ({
  ...(kept.week_begins === null && { "X-Memory-Week-Begins": WEEK_BEGINS }),
  ...(kept.timezone === null && ZONE && { "X-Memory-Timezone": ZONE }),
});
