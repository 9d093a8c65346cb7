// The compiler flags that are set, and a search in all that the compiler lists.

const MOST_FOUND = 60; // flags listed at once; arbitrary, one more word leaves fewer

/** The editor of a flag's value: a choice where it is true or false, else a text. */
function valueEditor(name, kind, value, action) {
  if (kind !== "bool" && value !== "true" && value !== "false") {
    const field = element("input", "hw-entry", { type: "text", size: 12, spellcheck: false });
    field.setAttribute("aria-label", name);
    onEdited(field, action);
    return field;
  }
  const choices = ["true", "false"].map((text) => element("option", "", { value: text, textContent: text }));
  const choice = element("select", "", {}, ...choices);
  choice.setAttribute("aria-label", name);
  choice.addEventListener("change", () => action(choice.value));
  return choice;
}

/** One flag that is set, or about to be. */
class FlagRow {
  constructor(name, facts, value, send, onRemove) {
    this.kind = facts?.kind;
    this.editor = valueEditor(name, facts?.kind, value, (text) => send({ type: "flag", name, text }));
    const remove = element("button", "hw-remove", { type: "button", title: `Back to the compiler's own ${name}`, textContent: "✕" });
    remove.setAttribute("aria-label", `Remove ${name}`);
    remove.addEventListener("click", onRemove);
    this.wrong = problemLine();
    const label = element("span", "hw-label", { textContent: name, title: facts?.help || name });
    this.own = element("span", "hw-dim");
    this.element = element("div", "hw-flag", {}, label, this.editor, remove, this.own, this.wrong);
    this.element.dataset.flag = name;
  }
}

/** The flags. */
class FlagsPanel {
  constructor(send) {
    this.send = send;
    this.rows = new Map();
    this.pending = new Set(); // chosen from the list, and without a value of the user's yet
    this.known = new Map();
    this.target = null; // what the list was asked for
    this.state = { flags: {}, problems: {} };
    this.search = element("input", "hw-search", { type: "search", placeholder: "Find a flag of this compiler" });
    this.search.setAttribute("aria-label", "Find a flag");
    this.search.addEventListener("input", () => this.#list());
    this.note = element("span", "hw-dim");
    this.set = element("div", "hw-list");
    this.found = element("div", "hw-found");
    const head = element("div", "hw-panel-head", {}, this.search, this.note);
    this.element = element("div", "hw-flags", {}, this.set, head, this.found);
  }

  show(state) {
    this.state = state;
    for (const name of this.pending) if (name in state.flags) this.pending.delete(name);
    const names = [...Object.keys(state.flags), ...this.pending];
    for (const [name, row] of this.rows) if (!names.includes(name)) this.#drop(name, row);
    for (const name of names) {
      if (!this.rows.has(name)) this.#add(name);
      const row = this.rows.get(name);
      const own = this.known.get(name);
      update(row.own, "textContent", own ? `the compiler's own: ${own.value || "empty"}` : "");
      const problem = state.problems[`flag ${name}`];
      fill(row.editor, state.flags[name] ?? own?.value ?? "", problem);
      showProblem(row.wrong, problem);
    }
  }

  /** Ask for the list, where that of this target is not there. */
  open() {
    if (this.target === this.state.target) return;
    this.target = this.state.target;
    this.note.textContent = "asking the compiler for its flags…";
    this.send({ type: "list flags" });
  }

  receive(message) {
    if (message.type === "no flags") {
      this.target = null;
      this.note.textContent = message.text;
      return;
    }
    this.known = new Map(message.flags.map(([name, value, kind, help]) => [name, { value, kind, help }]));
    this.show(this.state);
    this.#list();
  }

  #add(name) {
    const facts = this.known.get(name);
    const row = new FlagRow(name, facts, this.state.flags[name] ?? facts?.value ?? "", this.send, () => {
      if (!this.pending.delete(name)) this.send({ type: "flag", name, text: null });
      else this.show(this.state);
    });
    this.rows.set(name, row);
    this.set.append(row.element);
  }

  #drop(name, row) {
    row.element.remove();
    this.rows.delete(name);
  }

  #list() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ([name, { help }]) => words.every((word) => name.includes(word) || help.toLowerCase().includes(word));
    const found = [...this.known].filter(fits);
    this.note.textContent = `${found.length.toLocaleString()} of ${this.known.size.toLocaleString()} flags of the compiler for ${this.target}`;
    this.found.replaceChildren(...found.slice(0, MOST_FOUND).map((entry) => this.#offer(...entry)));
    if (found.length > MOST_FOUND) {
      const more = (found.length - MOST_FOUND).toLocaleString();
      this.found.append(element("div", "hw-dim", { textContent: `and ${more} more: write more of the name` }));
    }
  }

  #offer(name, { value, help }) {
    const label = element("span", "hw-label", { textContent: name });
    const now = element("span", "hw-now", { textContent: value || "empty" });
    const words = element("span", "hw-dim", { textContent: help });
    const offer = element("button", "hw-offer", { type: "button", title: help || `Set ${name}` }, label, now, words);
    offer.addEventListener("click", () => {
      if (!(name in this.state.flags)) this.pending.add(name);
      this.show(this.state);
      this.rows.get(name).editor.focus();
    });
    return offer;
  }
}
