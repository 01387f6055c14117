// A chat reply as it arrives: server-sent events of OpenAI's chunks.

import { Refused, gone, request } from "./api.js";

/**
 * Sends a chat request; `onText` gets each piece, `onThought` what the model thinks or looks for
 * before it answers. Returns what the server did with its memory.
 * Raises when the answer does not come to its end, as it is not remembered then.
 */
export async function streamChat(send, { onText, onThought, signal, headers }) {
  const body = JSON.stringify({ ...send, stream: true });
  const response = await request("POST", "/v1/chat/completions", { body, signal, headers });
  let memory = null;
  for await (const data of events(response.body)) {
    if (data === "[DONE]") return memory;
    const chunk = JSON.parse(data);
    if (chunk.error) throw new Refused(response.status, chunk.error);
    memory = chunk.memory ?? memory;
    const { content: text, reasoning_content: thought } = chunk.choices[0]?.delta ?? {};
    if (thought) onThought(thought);
    if (text) onText(text);
  }
  throw gone();
}

async function* events(body) {
  let left = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await read(reader);
    if (done) return;
    const blocks = (left + value).split("\n\n");
    left = blocks.pop();
    for (const block of blocks) {
      if (block.startsWith("data: ")) yield block.slice("data: ".length);
    }
  }
}

async function read(reader) {
  try {
    return await reader.read();
  } catch (error) {
    throw error.name === "AbortError" ? error : gone();
  }
}
