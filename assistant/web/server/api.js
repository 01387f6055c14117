// The HTTP API of the server that served this page. Every failure is an Error with a message to show.

import { settings } from "../page/settings.js";
import { said } from "../page/surroundings.js";
import { t } from "../page/words.js";

/** No answer at all: the server is gone, or the network is. */
export class ServerGone extends Error {}

/** The server answered with an error; `retryAfter` are the seconds it asks to wait, or null. */
export class Refused extends Error {
  constructor(status, error, retryAfter = null) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.retryAfter = retryAfter;
  }
}

/**
 * The response to a request. Raises ServerGone and Refused; an aborted request raises AbortError.
 * That a key is needed, or is wrong, is told to everybody by `key-refused` as well, and by `space-lost`
 * that the user is in no such space.
 */
export async function request(method, path, { query = {}, body, headers = {}, signal } = {}) {
  const given = (Array.isArray(query) ? query : Object.entries(query)).filter(([, value]) => value !== undefined && value !== "");
  const url = path + (given.length ? `?${new URLSearchParams(given)}` : "");
  const { key, space } = settings;
  const all = { ...headers, ...said(), ...(key && { Authorization: `Bearer ${key}` }), ...(space && { "X-Memory-Space": space }) };
  let response;
  try {
    response = await fetch(url, { method, body, headers: all, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw gone();
  }
  if (response.ok) return response;
  if (response.status === 401) {
    document.dispatchEvent(new CustomEvent("key-refused", { detail: { key } }));
  }
  const refused = new Refused(response.status, await errorOf(response), response.headers.get("Retry-After"));
  if (refused.code === "space_not_found") document.dispatchEvent(new Event("space-lost"));
  throw refused;
}

/** The JSON that a request is answered with; `send` is the body. */
export async function ask(method, path, { send, ...more } = {}) {
  const body = send === undefined ? undefined : JSON.stringify(send);
  return (await request(method, path, { body, ...more })).json();
}

/** A path of which some parts are ids. */
export const path = (strings, ...ids) => String.raw({ raw: strings }, ...ids.map(encodeURIComponent));

export const gone = () => new ServerGone(t("gone", { host: location.host }));

async function errorOf(response) {
  try {
    const { error } = await response.json();
    if (error?.message) return error;
  } catch {
    // Something between the server and this page answered in its own way.
  }
  return { message: t("server_answered", { status: response.status }), code: null };
}
