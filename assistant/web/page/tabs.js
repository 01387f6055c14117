// What the other tabs of this page in this browser should know: that memory or a setting changed.

import { settings } from "./settings.js";

const channel = new BroadcastChannel("aide-memoire");

/** Tells the other tabs that the memory of this user is not what it was. */
export const tellTabs = (detail) => channel.postMessage({ user: settings.user, detail });

/** `onMemory` hears what another tab told; `onSetting` the name of a setting that it changed. */
export function hearTabs({ onMemory, onSetting }) {
  channel.onmessage = ({ data }) => data.user === settings.user && onMemory(data.detail);
  window.addEventListener("storage", ({ storageArea, key }) => {
    if (storageArea === localStorage && key?.startsWith("aide-memoire.")) onSetting(key.split(".")[1]);
  });
}
