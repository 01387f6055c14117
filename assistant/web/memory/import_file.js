// A file that is brought in, as requests that the server accepts: an export of ours, or ChatGPT's.

// Well below what the server accepts in one request, in characters of at most three bytes.
const PIECE = 250_000;

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
  const pieces = packed(lines).map((some) => ({ body: [header, ...some].join("\n"), count: some.length }));
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
