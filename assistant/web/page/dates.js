// Days and times as people write them, by the clocks of whoever looks, or of where it was said.

import { el } from "./dom.js";
import { LOCALE, t } from "./words.js";

/** The time zone of this browser; empty where it does not know. */
export const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone.replace("Etc/Unknown", "");

export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const locale = new Intl.Locale(navigator.language);
/** On which day weeks begin for who uses this browser; not every browser knows. */
export const WEEK_BEGINS = WEEKDAYS[((locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1) - 1];

/** A date that says in UTC what the clocks said. The server tells an instant with its distance from
 * UTC where it knows where it was said. A day is one everywhere. */
function clock(at) {
  if (typeof at === "string" && !at.includes("T")) return new Date(at);
  if (typeof at === "string" && /[+-]\d\d:\d\d$/.test(at)) return new Date(`${at.slice(0, 19)}Z`);
  const instant = new Date(at);
  return new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000);
}

const format = (options) => new Intl.DateTimeFormat(LOCALE, { timeZone: "UTC", ...options });
const DAY = format({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const DATE = format({ day: "numeric", month: "long", year: "numeric" });
const WEEKDAY = format({ weekday: "long" });
const TIME = format({ hour: "2-digit", minute: "2-digit" });
const MONTH = format({ month: "long", year: "numeric" });
const SHORT = format({ day: "numeric", month: "short", year: "numeric" });
const SHORT_DAY = format({ day: "numeric", month: "short" });
const SHORT_MONTH = format({ month: "short", year: "numeric" });
const SINCE = new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" });
const DAY_MS = 86_400_000;
const MONTH_DAYS = 30.44;
const YEAR_DAYS = 365.25;

/** "Saturday 20 May 2023" of an instant or a day. */
export const day = (instant) => DAY.format(clock(instant)).replaceAll(",", "");

/** "20 May 2023", "2–3 March 2026": the days from one to another, in few words. */
export const days = (first, last) => DATE.formatRange(clock(first), clock(last));

/** "4 Mar 2026"; "4 Mar" where it is in the year of another instant. */
export const shortDay = (instant, now) =>
  (dayKey(instant).slice(0, 4) === dayKey(now).slice(0, 4) ? SHORT_DAY : SHORT).format(clock(instant));

/** "02:21". */
export const time = (instant) => TIME.format(clock(instant));

/** "Monday" of "monday". */
export const weekday = (name) => WEEKDAY.format(new Date(Date.UTC(2024, 0, 1 + WEEKDAYS.indexOf(name))));

/** "May 2023" of "2023-05". */
export const month = (key) => MONTH.format(new Date(`${key}-01`));

/** "2023-05-20" of an instant. */
export const dayKey = (instant) => clock(instant).toISOString().slice(0, 10);

/** The day of an instant, or another text for it, that says by its tooltip how long ago that was. */
export const dated = (instant, text = day(instant)) =>
  el("time", { dateTime: instant, title: ago(instant) }, text);

/** "yesterday", "last Thursday", "3 weeks ago", "in 5 days". */
export function ago(instant) {
  const start = (at) => Math.floor(at / DAY_MS);
  const away = start(clock(instant).getTime()) - start(clock(Date.now()).getTime());
  if (away < -1 && away >= -7) return t("last_weekday", { weekday: WEEKDAY.format(clock(instant)) });
  const far = Math.abs(away);
  if (far < 14) return SINCE.format(away, "day");
  if (far < 2 * MONTH_DAYS) return SINCE.format(Math.round(away / 7), "week");
  if (far < 2 * YEAR_DAYS) return SINCE.format(Math.round(away / MONTH_DAYS), "month");
  return SINCE.format(Math.round(away / YEAR_DAYS), "year");
}

/** The days of "2023-05", "2023-05-01" first. */
export function daysOf(key) {
  const [year, number] = key.split("-").map(Number);
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: last }, (_, place) => `${key}-${String(place + 1).padStart(2, "0")}`);
}

/** "May 2023", "Saturday 20 May 2023", or both ends of a range; an open end is said so. */
export const range = (days) => inWords(days, day, month, (from, to) => t("from_to", { from: day(from), to: day(to) }));

/** The same in few words: "May 2023", "20 May 2023", "2–3 Mar 2026". */
export const shortDays = (days) => inWords(days, of(SHORT), of(SHORT_MONTH), (from, to) => SHORT.formatRange(new Date(from), new Date(to)));

const of = (words) => (key) => words.format(new Date(key));

function inWords({ first, last }, day, month, both) {
  if (!first || !last) return first ? t("from_on", { day: day(first) }) : last ? t("until", { day: day(last) }) : t("any_time");
  const [from, to] = [first, last].map((end) => dayKey(end));
  if (from === to) return day(from);
  if (from.endsWith("-01-01") && to === `${from.slice(0, 4)}-12-31`) return from.slice(0, 4);
  if (from.endsWith("-01") && to === daysOf(from.slice(0, 7)).at(-1)) return month(from.slice(0, 7));
  return both(from, to);
}

/** "Today", "Yesterday", "May 2023": under which heading a session is listed. */
export function heading(instant) {
  const at = dayKey(instant);
  const before = (days) => dayKey(Date.now() - days * DAY_MS);
  if (at === before(0)) return t("today");
  return at === before(1) ? t("yesterday") : month(at.slice(0, 7));
}
