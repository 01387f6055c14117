// The part of Markdown that answers use, as elements: paragraphs, headings, lists in lists, tables,
// quotes, code, emphasis, links. What it does not know stays as it was written. Days are shown as
// people write them.

import { copyButton } from "../page/copy.js";
import { day, dated } from "../page/dates.js";
import { el } from "../page/dom.js";

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6}) +(.*?)(?: +#+)?$/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)]) +/;
const DIVIDER = /^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$/;
const BLOCKS = [
  { is: (lines) => FENCE.test(lines[0]), read: readFence },
  { is: (lines) => HEADING.test(lines[0]), read: readHeading },
  { is: (lines) => RULE.test(lines[0]), read: (lines) => (lines.shift(), el("hr")) },
  { is: (lines) => QUOTE.test(lines[0]), read: readQuote },
  { is: (lines) => ITEM.test(lines[0]), read: readList },
  { is: isTable, read: readTable },
];
const INLINE = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<ticks>`+)(?<code>.+?)\k<ticks>(?!`)/,
    /\*\*(?=\S)(?<strong>.+?)(?<=\S)\*\*/,
    /~~(?=\S)(?<gone>.+?)(?<=\S)~~/,
    /\*(?=\S)(?<starred>[^*]+)(?<=\S)\*/,
    /(?<!\w)_(?=\S)(?<lined>[^_]+)(?<=\S)_(?!\w)/,
    /\[(?<label>[^\]]+)\]\((?<href>https?:\/\/[^\s)]+)\)/,
    /(?<url>https?:\/\/[^\s<>()]*[^\s<>().,:;!?'"”])/,
    /(?<![\w/.-])(?<date>[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?: \((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\))?(?![\w/-]|\.\d)/,
  ].map(({ source }) => source).join("|"),
  "gs",
);

/** The elements of a text. */
export const markdown = (text) => blocks(text.split("\n"));

function blocks(lines) {
  const made = [];
  while (lines.length) {
    if (!lines[0].trim()) lines.shift();
    else made.push((BLOCKS.find(({ is }) => is(lines))?.read ?? readParagraph)(lines));
  }
  return made;
}

function readFence(lines) {
  const [, marks, language] = lines.shift().match(FENCE);
  const end = lines.findIndex((line) => line.trimStart().startsWith(marks));
  const code = lines.splice(0, end < 0 ? lines.length : end).join("\n");
  lines.shift();
  return el("div", { class: "code" },
    el("p", {}, el("span", {}, language), copyButton(() => code)),
    el("pre", { tabIndex: 0 }, el("code", {}, code)));
}

function readHeading(lines) {
  const [, marks, text] = lines.shift().match(HEADING);
  return el(`h${Math.min(marks.length + 2, 6)}`, {}, inline(text));
}

function readQuote(lines) {
  const own = [];
  while (lines.length && QUOTE.test(lines[0])) own.push(lines.shift().replace(QUOTE, ""));
  return el("blockquote", {}, blocks(own));
}

/** Items of one kind; what is indented below one belongs to it, another list too. */
function readList(lines) {
  const kind = (line) => ITEM.exec(line)?.[2].replace(/\d+/, "1");
  const first = kind(lines[0]);
  const list = el(first.startsWith("1") ? "ol" : "ul");
  if (list.localName === "ol") list.start = parseInt(ITEM.exec(lines[0])[2], 10);
  while (lines.length && kind(lines[0]) === first && !RULE.test(lines[0])) {
    list.append(el("li", {}, readItem(lines)));
    const next = lines.findIndex((line) => line.trim());
    if (next > 0 && kind(lines[next]) === first) lines.splice(0, next);
  }
  return list;
}

function readItem(lines) {
  const width = ITEM.exec(lines[0])[0].length;
  const own = [lines.shift().slice(width)];
  for (;;) {
    const next = lines.findIndex((line) => line.trim());
    const isBelow = next >= 0 && /^ {2}/.test(lines[next]);
    const goesOn = next === 0 && !BLOCKS.some(({ is }) => is(lines));
    if (!isBelow && !goesOn) break;
    own.push(...lines.splice(0, next + 1).map((line) => line.replace(new RegExp(`^ {1,${width}}`), "")));
  }
  const [text, ...more] = blocks(own);
  return text?.localName === "p" ? [...text.childNodes, ...more] : [text, ...more];
}

function isTable([head, divider]) {
  return head.includes("|") && divider !== undefined && divider.includes("-") && DIVIDER.test(divider)
    && cells(head).length === cells(divider).length;
}

function readTable(lines) {
  const head = cells(lines.shift());
  const sides = cells(lines.shift()).map((text) => `${text.startsWith(":") ? "l" : ""}${text.endsWith(":") ? "r" : ""}`);
  const rows = [];
  while (lines.length && lines[0].includes("|")) rows.push(cells(lines.shift()));
  const row = (name, texts) => el("tr", {}, head.map((_, place) =>
    el(name, { class: { r: "right", lr: "middle" }[sides[place]] ?? "" }, inline(texts[place] ?? ""))));
  return el("div", { class: "table", tabIndex: 0 }, el("table", {},
    el("thead", {}, row("th", head)), el("tbody", {}, rows.map((texts) => row("td", texts)))));
}

/** The cells of a row; a bar that is escaped is none. */
const cells = (line) => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

function readParagraph(lines) {
  const own = [lines.shift()];
  while (lines.length && lines[0].trim() && !BLOCKS.some(({ is }) => is(lines))) own.push(lines.shift());
  return el("p", {}, inline(own.join("\n")));
}

function inline(text) {
  const made = [];
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    made.push(text.slice(end, found.index), shown(found));
    end = found.index + found[0].length;
  }
  return [...made, text.slice(end)].filter((part) => part !== "");
}

function shown({ 0: whole, groups }) {
  const { escaped, code, strong, gone, starred, lined, label, href, url, date } = groups;
  if (escaped) return escaped;
  if (code) return el("code", {}, code);
  if (strong) return el("strong", {}, inline(strong));
  if (gone) return el("del", {}, inline(gone));
  if (starred ?? lined) return el("em", {}, inline(starred ?? lined));
  if (date) return Number.isNaN(Date.parse(date)) ? whole : dated(date, day(date));
  return el("a", { href: href ?? url, target: "_blank", rel: "noopener noreferrer" }, label ? inline(label) : url);
}
