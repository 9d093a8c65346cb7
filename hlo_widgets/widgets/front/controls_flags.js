// The compiler flags that are set, and a search in all that the compiler lists.

const MOST_FOUND = 60; // flags listed at once; arbitrary, one more word leaves fewer

/** The editor of a flag's value: a choice where it is true or false, else a text. */
function valueEditor(name, kind, value, action) {
  if (kind !== "bool" && value !== "true" && value !== "false") {
    const field = html("input", "hw-entry", { type: "text", size: 12, spellcheck: false });
    field.setAttribute("aria-label", name);
    onEdited(field, action);
    return field;
  }
  const choices = ["true", "false"].map((text) => html("option", "", { value: text, textContent: text }));
  const choice = html("select", "", {}, ...choices);
  choice.setAttribute("aria-label", name);
  choice.addEventListener("change", () => action(choice.value));
  return choice;
}

/** One flag that is set, or about to be. */
class FlagRow {
  constructor(name, value, send, onRemove) {
    this.name = name;
    this.send = send;
    this.editor = valueEditor(name, undefined, value, (text) => this.#change(text));
    const remove = html("button", "hw-remove", { type: "button", title: `Back to the compiler's own ${name}`, textContent: "✕" });
    remove.setAttribute("aria-label", `Remove ${name}`);
    remove.addEventListener("click", onRemove);
    this.wrong = problemLine();
    this.label = html("span", "hw-label", { textContent: name });
    this.own = html("span", "hw-dim");
    this.element = html("div", "hw-flag", {}, this.label, this.editor, remove, this.own, this.wrong);
    this.element.dataset.flag = name;
  }

  /** Show a value, and what the compiler says of the flag, which may come later than the row. */
  show(value, facts, problem) {
    const kind = facts?.kind;
    const isChoice = this.editor.tagName === "SELECT";
    if (kind === "bool" && !isChoice && document.activeElement !== this.editor) {
      const editor = valueEditor(this.name, kind, value, (text) => this.#change(text));
      this.editor.replaceWith(editor);
      this.editor = editor;
    }
    update(this.label, "title", facts?.help || this.name);
    update(this.own, "textContent", facts ? `the compiler's own: ${facts.value || "empty"}` : "");
    fill(this.editor, value, problem);
    showProblem(this.wrong, problem);
  }

  #change(text) {
    this.send({ type: "flag", name: this.name, text });
  }
}

/** The flags. */
class FlagsPanel {
  constructor(send) {
    this.send = send;
    this.rows = new Map();
    this.pending = new Set(); // chosen from the list, and without a value of the user's yet
    this.lists = new Map(); // what each compiler lists, by target
    this.requested = null; // the target whose list is on its way
    this.state = { flags: {}, problems: {} };
    this.search = html("input", "hw-search", { type: "search", placeholder: "Find a flag of this compiler" });
    this.search.setAttribute("aria-label", "Find a flag");
    this.search.addEventListener("input", () => {
      if (this.known) this.#list();
    });
    this.note = html("span", "hw-dim");
    this.set = html("div", "hw-list");
    this.found = html("div", "hw-found");
    const head = html("div", "hw-panel-head", {}, this.search, this.note);
    this.element = html("div", "hw-flags", {}, this.set, head, this.found);
  }

  /** What the compiler of the target in view lists; null while that is not there. */
  get known() {
    return this.lists.get(this.state.target) ?? null;
  }

  show(state) {
    this.state = state;
    for (const name of this.pending) if (name in state.flags) this.pending.delete(name);
    const names = [...Object.keys(state.flags), ...this.pending];
    for (const [name, row] of this.rows) if (!names.includes(name)) this.#drop(name, row);
    for (const name of names) {
      const facts = this.known?.get(name);
      const value = state.flags[name] ?? facts?.value ?? "";
      if (!this.rows.has(name)) this.#add(name, value);
      this.rows.get(name).show(value, facts, state.problems[`flag ${name}`]);
    }
  }

  /** Show the list of this target; ask for it, where it is not there. */
  open() {
    const target = this.state.target;
    if (this.known) {
      this.#list();
    } else if (this.requested !== target) {
      this.requested = target;
      this.found.replaceChildren();
      this.note.textContent = `asking the compiler for ${target} for its flags…`;
      this.send({ type: "list flags" });
    }
  }

  /** Take a list, which may be of a target that is not in view any more. */
  receive({ type, target, flags, text }) {
    if (this.requested === target) this.requested = null;
    if (type === "flags") {
      this.lists.set(target, new Map(flags.map(([name, value, kind, help]) => [name, { value, kind, help }])));
    }
    if (target !== this.state.target) return;
    if (type === "no flags") {
      this.note.textContent = text;
    } else {
      this.show(this.state);
      this.#list();
    }
  }

  #add(name, value) {
    const row = new FlagRow(name, value, this.send, () => {
      if (!this.pending.delete(name)) this.send({ type: "unset flag", name });
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
    const known = this.known ?? new Map();
    const found = [...known].filter(fits);
    this.note.textContent = `${number(found.length)} of ${number(known.size)} flags of the compiler for ${this.state.target}`;
    this.found.replaceChildren(...found.slice(0, MOST_FOUND).map((entry) => this.#offer(...entry)));
    if (found.length > MOST_FOUND) {
      const more = number(found.length - MOST_FOUND);
      this.found.append(html("div", "hw-dim", { textContent: `and ${more} more: write more of the name` }));
    }
  }

  #offer(name, { value, help }) {
    const label = html("span", "hw-label", { textContent: name });
    const now = html("span", "hw-now", { textContent: value || "empty" });
    const words = html("span", "hw-dim", { textContent: help });
    const offer = html("button", "hw-offer", { type: "button", title: help || `Set ${name}` }, label, now, words);
    offer.addEventListener("click", () => {
      if (!(name in this.state.flags)) this.pending.add(name);
      this.show(this.state);
      this.rows.get(name).editor.focus();
    });
    return offer;
  }
}
