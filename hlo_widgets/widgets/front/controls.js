// The controls above a graph: what is compiled, how far that is, and what was compiled before.
//
// Model traits read: variant, targets, status, history. Messages sent: {type: "argument", index,
// text}, {type: "flag", name, text}, {type: "unset flag", name}, {type: "target", text}, {type: "show" |
// "go", number}, and {type: "cancel" | "retry" | "back" | "list flags"}; each with a serial, which comes
// back in `variant`.
// Received: {type: "flags" | "no flags"}.

const TICK_MS = 100;

let controlViews = 0;

class ControlsView {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.view = `${Date.now()}-${++controlViews}`; // of all views of this model, in other tabs too
    this.serial = 0;
    this.redraws = 0;
    const send = (message) => this.send(message);
    this.panels = {
      arguments: new ArgumentsPanel(send),
      flags: new FlagsPanel(send),
      history: new HistoryPanel(send),
    };
    this.#build();
    this.#listen();
    this.applyTheme();
    this.showTargets();
    this.showVariant();
    this.showHistory();
    this.showStatus();
    // Of many arguments nobody wants to see the first few.
    this.openPanel(model.get("variant").arguments?.length <= FEW ? "arguments" : null);
  }

  #build() {
    this.kind = html("select", "hw-target");
    this.kind.setAttribute("aria-label", "Target");
    this.chips = html("input", "hw-entry", { type: "text", size: 7, placeholder: "1 chip", spellcheck: false });
    this.chips.title = "How many chips, such as 4x4; empty for one";
    this.chips.setAttribute("aria-label", "Chips");
    this.tabs = Object.fromEntries(Object.keys(this.panels).map((name) => [name, this.#tab(name)]));
    this.phase = html("span", "hw-phase", {});
    this.phase.setAttribute("role", "status");
    this.clock = html("span", "hw-clock");
    this.cancel = html("button", "", { type: "button", textContent: "Cancel" });
    this.again = html("button", "", { type: "button", textContent: "Compile again" });
    this.back = html("button", "", { type: "button", textContent: "Back to what is shown" });
    const outcome = html("span", "hw-outcome", {}, this.phase, this.clock, this.cancel, this.again, this.back);
    const target = html("label", "hw-labelled", {}, "Target", this.kind);
    this.bar = html("div", "hw-controls-bar", {}, target, this.chips, ...Object.values(this.tabs), outcome);
    this.wrongTarget = problemLine();
    this.failure = html("pre", "hw-failure", { hidden: true, tabIndex: 0 });
    this.failure.setAttribute("aria-label", "What went wrong");
    this.memoryAskers = html("div", "hw-memory-askers", { hidden: true });
    const panels = Object.values(this.panels).map((panel) => panel.element);
    this.panel = html("div", "hw-panel", {}, ...panels);
    this.root = html("div", "hw-controls", {}, this.bar, this.wrongTarget, this.failure, this.memoryAskers, this.panel);
    this.root.dataset.lmSuppressShortcuts = "true";
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "What is compiled");
    this.el.append(this.root);
  }

  #tab(name) {
    const tab = html("button", "hw-tab", { type: "button" });
    tab.addEventListener("click", () => this.openPanel(this.opened === name ? null : name));
    return tab;
  }

  #listen() {
    // A notebook that sees an arrow key moves its own cursor, and keeps the slider from moving.
    this.root.addEventListener("keydown", (event) => event.stopPropagation());
    this.kind.addEventListener("change", () => {
      this.chips.value = "";
      this.#sendTarget();
    });
    onEdited(this.chips, () => this.#sendTarget());
    this.cancel.addEventListener("click", () => this.send({ type: "cancel" }));
    this.again.addEventListener("click", () => this.send({ type: "retry" }));
    this.back.addEventListener("click", () => this.send({ type: "back" }));
    const changes = {
      "change:variant": () => this.showVariant(),
      "change:targets": () => this.showTargets(),
      "change:status": () => this.showStatus(),
      "change:history": () => this.showHistory(),
      "msg:custom": (message) => this.panels.flags.receive(message),
    };
    for (const [event, action] of Object.entries(changes)) this.model.on(event, action);
    const stopTheme = watchTheme(() => this.applyTheme());
    this.end = () => {
      stopTheme();
      clearInterval(this.ticking);
      for (const [event, action] of Object.entries(changes)) this.model.off(event, action);
    };
  }

  send(message) {
    this.serial += 1;
    tellKernel(this.model, { ...message, serial: `${this.view}:${this.serial}` }, (text) => showProblem(this.wrongTarget, text));
  }

  #sendTarget() {
    const chips = this.chips.value.trim().replace(/^:/, "");
    this.send({ type: "target", text: chips ? `${this.kind.value}:${chips}` : this.kind.value });
  }

  applyTheme() {
    this.root.dataset.theme = isDark(this.el) ? "dark" : "light";
  }

  openPanel(name) {
    this.opened = name;
    for (const [other, panel] of Object.entries(this.panels)) {
      panel.element.hidden = other !== name;
      this.tabs[other].setAttribute("aria-expanded", String(other === name));
    }
    this.panel.hidden = name === null;
    if (name === "flags") this.panels.flags.open();
  }

  showTargets() {
    const options = this.model.get("targets").map(({ name, kind, why_not }) => {
      const text = why_not ? `${name} (not installed)` : name;
      return html("option", "", { value: name, textContent: text, title: why_not || kind, disabled: Boolean(why_not) });
    });
    this.kind.replaceChildren(...options);
    this.showVariant();
  }

  showVariant() {
    const variant = this.model.get("variant");
    if (!variant?.arguments) return;
    const [view, serial] = (variant.seen || ":").split(":");
    // What the kernel had before it saw the last change would undo that on the page.
    if (view === this.view && Number(serial) < this.serial) return;
    const [kind, chips] = variant.target.split(":");
    update(this.kind, "value", kind);
    fill(this.chips, chips ?? "", variant.problems.target);
    showProblem(this.wrongTarget, variant.problems.target);
    this.panels.arguments.show(variant);
    this.panels.flags.show(variant);
    if (this.opened === "flags") this.panels.flags.open();
    this.#labelTabs();
  }

  showHistory() {
    this.panels.history.show(this.model.get("history"));
    this.#showBack();
    this.#labelTabs();
  }

  #labelTabs() {
    const variant = this.model.get("variant");
    const counts = {
      arguments: variant?.arguments?.length ?? 0,
      flags: Object.keys(variant?.flags ?? {}).length,
      history: this.model.get("history")?.rows?.length ?? 0,
    };
    const words = { arguments: "Arguments", flags: "Flags", history: "History" };
    for (const [name, tab] of Object.entries(this.tabs)) update(tab, "textContent", `${words[name]} ${counts[name]}`);
  }

  showStatus() {
    const { state = "ready", words = "", text = "", is_stale: isStale = false, memory_askers: names = [] } = this.model.get("status");
    const isWorking = state === "working";
    this.root.dataset.state = state;
    this.root.dataset.redraws = String(++this.redraws);
    update(this.phase, "textContent", words);
    this.phase.title = words;
    this.cancel.hidden = !isWorking;
    this.again.hidden = isWorking || !isStale;
    this.#showBack();
    update(this.failure, "textContent", text);
    this.failure.hidden = !text;
    this.#showMemoryAskers(names);
    this.#tick(isWorking);
  }

  /** The way back to what is shown, where that was compiled here and is not what is asked for. */
  #showBack() {
    const { state, is_stale: isStale = false } = this.model.get("status");
    this.back.hidden = state === "working" || !isStale || (this.model.get("history").shown ?? null) === null;
  }

  /** The ops that asked for too much memory, to be shown in the picture that there is. */
  #showMemoryAskers(names) {
    this.memoryAskers.hidden = !names.length;
    const buttons = names.map((textContent, number) => {
      const button = html("button", "", { type: "button", textContent });
      button.addEventListener("click", () => this.send({ type: "go", number }));
      return button;
    });
    this.memoryAskers.replaceChildren("Asked by, in the picture below: ", ...buttons);
  }

  #tick(isWorking) {
    if (isWorking === Boolean(this.ticking)) return;
    clearInterval(this.ticking);
    this.ticking = null;
    this.clock.textContent = "";
    if (!isWorking) return;
    const start = performance.now();
    const say = () => (this.clock.textContent = `${((performance.now() - start) / 1000).toFixed(1)} s`);
    say();
    this.ticking = setInterval(say, TICK_MS);
  }
}

function render({ model, el }) {
  const view = new ControlsView(model, el);
  return () => view.end();
}

export default { render };
