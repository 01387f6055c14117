// A text file, put into the message that is being written, where it can still be read and changed.

import { notice } from "../page/notice.js";
import { byId } from "../page/dom.js";
import { LOCALE, t } from "../page/words.js";

const MOST_BYTES = 200_000;

/** Wire the button; `onText` gets the message with the file in it. */
export function startAttachments(onText) {
  const input = byId("attach-file");
  byId("attach").onclick = () => input.click();
  input.onchange = async () => {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    const text = await textOf(file);
    if (text === null) return notice(t("not_attached", { name: file.name, most: (MOST_BYTES / 1000).toLocaleString(LOCALE) }));
    const draft = byId("draft").value.trimEnd();
    onText(`${draft ? `${draft}\n\n` : ""}${file.name}:\n${fenced(text)}\n`);
  };
}

/** What a file says; null for one that is no text, or too long. */
async function textOf(file) {
  if (file.size > MOST_BYTES) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).replace(/\r\n?/g, "\n").trimEnd();
    return text.trim() && !text.includes("\0") ? text : null;
  } catch {
    return null;
  }
}

/** The text as a block that is not taken for the user's own words, whatever is in it. */
function fenced(text) {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
