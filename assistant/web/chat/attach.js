// Files for the message that is being written. A text goes into it, where it can still be read and
// changed; a picture stands beside it, where the model takes pictures.

import { notice } from "../page/notice.js";
import { byId } from "../page/dom.js";
import { LOCALE, t } from "../page/words.js";
import { takesPictures } from "./model.js";
import { showPicture } from "./picture.js";

const MOST_BYTES = 200_000;
// As text in JSON a picture is a third larger, and a request has its limit.
const MOST_BYTES_OF_A_PICTURE = 5_000_000;

/** Wire the button; `onText` gets the message with the file in it. */
export function startAttachments(onText) {
  const input = byId("attach-file");
  byId("attach").onclick = () => input.click();
  input.onchange = async () => {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    if (file.type.startsWith("image/") && takesPictures()) {
      if (file.size > MOST_BYTES_OF_A_PICTURE) return refuse(file, MOST_BYTES_OF_A_PICTURE);
      showPicture({ name: file.name, url: await urlOf(file) });
      return byId("draft").focus();
    }
    const text = await textOf(file);
    if (text === null) return refuse(file, MOST_BYTES);
    const draft = byId("draft").value.trimEnd();
    // Its name as code: nobody's words, either.
    onText(`${draft ? `${draft}\n\n` : ""}\`${file.name.replaceAll("`", "")}\`\n\n${fenced(text)}\n`);
  };
}

const refuse = ({ name }, most) => notice(t("not_attached", { name, most: (most / 1000).toLocaleString(LOCALE) }));

/** The file as an address that holds all of it. */
function urlOf(file) {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
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
