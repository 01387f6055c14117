// The words of the page, in the language that its reader chose, or that the browser asks for.

import { settings } from "./settings.js";

/** The languages, each by its own name. A file of its code holds its words. */
export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", nl: "Nederlands", zh: "中文" };
const LANGUAGE = [settings.language, ...navigator.languages, "en"].map((tag) => tag.slice(0, 2)).find((code) => code in LANGUAGES);
/** How days and numbers are written. */
export const LOCALE = LANGUAGE === "en" ? "en-GB" : LANGUAGE;
const PLURALS = new Intl.PluralRules(LOCALE);
const words = await (await fetch(`/web/languages/${LANGUAGE}.json`)).json();

/** The words of a key, with the values that they name. */
export const t = (key, values = {}) => words[key].replaceAll(/\{(\w+)\}/g, (_, name) => values[name]);

/** The words for so many. */
export const tn = (key, count, values = {}) =>
  t(`${key}.${PLURALS.select(count) === "one" ? "one" : "other"}`, { count: count.toLocaleString(LOCALE), ...values });

/** Put the words into the page, where elements name them: `data-t` for a text, `data-t-title` … */
export function speak() {
  document.documentElement.lang = LANGUAGE;
  for (const element of document.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      if (name === "data-t") element.textContent = t(value);
      else if (name.startsWith("data-t-")) element.setAttribute(name.slice("data-t-".length), t(value));
    }
  }
}
