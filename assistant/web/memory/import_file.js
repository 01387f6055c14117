// A file that is brought in, as requests that the server accepts: an export of ours, or ChatGPT's.

// Well below what the server accepts in one request, in characters of at most three bytes.
const PIECE = 250_000;
const CUT_OFF = "This export was cut off: its end is missing. Nothing was brought in.";
// Those of the first version; of anything else the server says what it is.
const hasNoEnd = (header) => !/"version": ?(?!1\b)\d/.test(header);

/** `{format, noun, all, pieces}`: each piece is `{body, count}`, and they make `all` together. */
export async function readImport(file) {
  if (file.name.endsWith(".zip")) {
    return { format: "chatgpt", noun: "file", all: 1, pieces: [{ body: file, count: 1 }] };
  }
  const text = await file.text();
  return text.trimStart().startsWith("[") ? chatgpt(text) : records(text);
}

function records(text) {
  const [header, ...lines] = text.split("\n").filter((line) => line.trim());
  const end = /^{"records": ?(\d+)}$/.exec(lines.at(-1)?.trim());
  if (end) lines.pop();
  if (end ? Number(end[1]) !== lines.length : !hasNoEnd(header)) throw new Error(CUT_OFF);
  const ended = (some) => (end ? [...some, JSON.stringify({ records: some.length })] : some);
  const pieces = packed(lines).map((some) => ({ body: [header, ...ended(some)].join("\n"), count: some.length }));
  return { format: "records", noun: "round", all: lines.length, pieces };
}

function chatgpt(text) {
  const conversations = JSON.parse(text).map((one) => JSON.stringify(one));
  const pieces = packed(conversations).map((some) => ({ body: `[${some.join(",")}]`, count: some.length }));
  return { format: "chatgpt", noun: "conversation", all: conversations.length, pieces };
}

/** The texts in their order, as many together as fit into a request. */
function packed(texts) {
  const made = [[]];
  let size = 0;
  for (const text of texts) {
    if (size && size + text.length > PIECE) {
      made.push([]);
      size = 0;
    }
    made.at(-1).push(text);
    size += text.length;
  }
  return made;
}
