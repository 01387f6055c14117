// A small part of Markdown as elements: paragraphs, headings, lists, quotes, code, emphasis, links.
// What it does not know stays as it was written.

import { el } from "../page/dom.js";

const BLOCKS = [
  { is: /^```/, read: readFence },
  { is: /^#{1,6} /, read: readHeading },
  { is: /^> ?/, read: (lines) => el("blockquote", {}, markdown(taken(lines, /^> ?/).join("\n"))) },
  { is: /^[-*+] /, read: (lines) => readList("ul", lines, /^[-*+] /) },
  { is: /^\d{1,9}[.)] /, read: (lines) => readList("ol", lines, /^\d{1,9}[.)] /) },
];
const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/;

/** The elements of a text. */
export function markdown(text) {
  const lines = text.split("\n");
  const made = [];
  while (lines.length) {
    if (!lines[0].trim()) lines.shift();
    else made.push((BLOCKS.find(({ is }) => is.test(lines[0]))?.read ?? readParagraph)(lines));
  }
  return made;
}

function readFence(lines) {
  lines.shift();
  const end = lines.findIndex((line) => line.startsWith("```"));
  const code = lines.splice(0, end < 0 ? lines.length : end);
  lines.shift();
  return el("pre", { tabIndex: 0 }, el("code", {}, code.join("\n")));
}

function readHeading(lines) {
  const [, marks, text] = lines.shift().match(/^(#+) (.*)/);
  return el(`h${Math.min(marks.length + 2, 6)}`, {}, inline(text));
}

function readList(name, lines, mark) {
  return el(name, {}, taken(lines, mark).map((text) => el("li", {}, inline(text))));
}

function readParagraph(lines) {
  const own = [lines.shift()];
  while (lines.length && lines[0].trim() && !BLOCKS.some(({ is }) => is.test(lines[0]))) {
    own.push(lines.shift());
  }
  return el("p", {}, inline(own.join("\n")));
}

/** The lines that begin with the mark, without it. */
function taken(lines, mark) {
  const own = [];
  while (lines.length && mark.test(lines[0])) own.push(lines.shift().replace(mark, ""));
  return own;
}

function inline(text) {
  const found = text.match(INLINE);
  if (!found) return [text];
  const [whole, code, strong, emphasis, label, href] = found;
  return [text.slice(0, found.index), element(), ...inline(text.slice(found.index + whole.length))];

  function element() {
    if (code) return el("code", {}, code);
    if (strong) return el("strong", {}, inline(strong));
    if (emphasis) return el("em", {}, inline(emphasis));
    return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, inline(label));
  }
}
