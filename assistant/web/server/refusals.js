// What a refusal means to the person who reads it, before the server's own words.

const TITLES = {
  401: () => "This server needs an API key.",
  403: () => "Your API key does not allow that.",
  404: () => "That is not remembered, or not any more.",
  413: () => "That is too long to be sent at once.",
  429: ({ retryAfter }) => (retryAfter ? `Too much at once: try again in ${seconds(retryAfter)}.` : "Too much at once: wait a little."),
  507: () => "The disk of the server is full. What is remembered can be read; nothing new is kept.",
};

/** The first sentence of a refusal. */
export function titleOf(refused) {
  const found = TITLES[refused.status];
  if (found) return found(refused);
  return refused.status >= 500 ? "The assistant could not do that." : "The assistant did not accept that.";
}

const seconds = (text) => (Number(text) > 1 ? `${Math.ceil(Number(text))} seconds` : "a second");
