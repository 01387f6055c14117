// What this browser remembers of its user: who they are, how it looks, and the API key.

const kept = (storage, name, otherwise) => storage.getItem(`aide-memoire.${name}`) ?? otherwise;
const keep = (storage, name, value) => storage.setItem(`aide-memoire.${name}`, value);

export const settings = {
  /** The only user that the API key is for; null where it names any, and without one. */
  bound: null,

  get user() { return this.bound ?? kept(localStorage, "user", "default"); },
  get users() { return JSON.parse(kept(localStorage, "users", "[]")); },
  get theme() { return kept(localStorage, "theme", ""); },
  get language() { return kept(localStorage, "language", ""); },
  get model() { return kept(localStorage, "model", ""); },
  set model(name) { keep(localStorage, "model", name); },
  get space() { return kept(localStorage, "space", ""); },
  set space(name) { keep(localStorage, "space", name); },
  get key() { return kept(sessionStorage, "key", "") || kept(localStorage, "key", ""); },

  save({ user, theme, language }) {
    if (this.bound === null) {
      const users = [user, ...this.users.filter((other) => other !== user)].slice(0, 20);
      keep(localStorage, "user", user);
      keep(localStorage, "users", JSON.stringify(users));
    }
    keep(localStorage, "theme", theme);
    keep(localStorage, "language", language);
    showTheme();
  },

  /** Keeps the key until the tab is closed, or on this device where the person says so. */
  keepKey(key, onThisDevice) {
    this.dropKey();
    keep(onThisDevice ? localStorage : sessionStorage, "key", key);
  },

  dropKey() {
    for (const storage of [sessionStorage, localStorage]) storage.removeItem("aide-memoire.key");
  },
};

/** Light or dark where the user chose; otherwise as the system has it. */
export function showTheme() {
  document.documentElement.dataset.theme = settings.theme;
}

// Before the words of the page are there, so that nothing flashes.
showTheme();
