// Days and times as the server counts them: in UTC.

const format = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options });
const DAY = format({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const TIME = format({ hour: "2-digit", minute: "2-digit" });
const MONTH = format({ month: "long", year: "numeric" });

/** "Sat, 20 May 2023" of an instant or a day. */
export const day = (instant) => DAY.format(new Date(instant));

/** "02:21". */
export const time = (instant) => TIME.format(new Date(instant));

/** "May 2023" of "2023-05". */
export const month = (key) => MONTH.format(new Date(`${key}-01`));

/** "2023-05-20" of an instant. */
export const dayKey = (instant) => instant.slice(0, 10);

/** The days of "2023-05", "2023-05-01" first. */
export function daysOf(key) {
  const [year, number] = key.split("-").map(Number);
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return Array.from({ length: last }, (_, place) => `${key}-${String(place + 1).padStart(2, "0")}`);
}

/** "Sat, 20 May 2023", or both ends of a range; an open end is left open. */
export function range({ first, last }) {
  const [from, to] = [first, last].map((end) => (end ? day(end) : "…"));
  return from === to ? from : `${from} – ${to}`;
}

/** "Today", "Yesterday", "May 2023": under which heading a session is listed. */
export function heading(instant) {
  const at = dayKey(instant);
  const ago = (days) => dayKey(new Date(Date.now() - days * 86_400_000).toISOString());
  if (at === ago(0)) return "Today";
  return at === ago(1) ? "Yesterday" : month(at.slice(0, 7));
}
