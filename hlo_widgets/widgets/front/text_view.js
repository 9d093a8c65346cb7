// The text of a module, of which only the lines in view are on the page.
//
// Model traits read: document, marked. Messages sent: {type: "lines", key, line, last}, answered by
// {type: "lines", key, first, lines}; {type: "go", line}; {type: "fold", fold, line}.

const CHUNK = 100; // lines asked for at once; arbitrary
const MOST_CHUNKS = 80; // kept; arbitrary, a few megabytes at the most
const MOST_PX = 15_000_000; // browsers draw no taller element
let textViews = 0;

class TextLinesView {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.scope = `hw-text-${++textViews}`;
    this.chunks = new Map(); // number of a chunk to its lines, the latest used last
    this.asked = new Set();
    this.cursor = 1; // the line that the keys move
    this.start = null; // the line that a text opens on, until it is in view
    this.#build();
    this.#listen();
    this.applyTheme();
    this.showDocument();
  }

  #build() {
    this.place = html("span", "hw-t-place");
    this.note = html("span", "hw-t-note");
    this.note.setAttribute("role", "status");
    this.fold = html("input");
    this.fold.type = "checkbox";
    const fold = html("label", "", "", this.fold, " Show metadata and backend_config");
    this.back = html("button", "", "To the selected op");
    this.back.type = "button";
    const bar = html("div", "hw-t-bar", "", this.place, fold, this.back, this.note);
    this.spacer = html("div", "hw-t-lines");
    this.pane = html("div", "hw-t-pane", "", this.spacer);
    this.pane.tabIndex = 0;
    this.pane.setAttribute("role", "listbox");
    this.pane.setAttribute("aria-label", "HLO text, one line an option; Enter selects the op of a line");
    this.root = html("div", "hw-text", "", bar, this.pane);
    this.root.dataset.lmSuppressShortcuts = "true";
    this.el.append(this.root);
  }

  #listen() {
    const { model, pane } = this;
    let asked = false;
    pane.addEventListener("scroll", () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        this.draw();
      });
    });
    pane.addEventListener("click", (event) => this.#onClick(event));
    pane.addEventListener("keydown", (event) => this.#onKey(event));
    this.fold.addEventListener("change", () => this.send({ type: "fold", fold: !this.fold.checked, line: this.firstInView() }));
    this.back.addEventListener("click", () => {
      this.bringIntoView(this.marked.at);
      this.cursor = this.marked.at;
      pane.focus();
      this.draw();
    });
    const changes = {
      "change:document": () => this.showDocument(),
      "change:marked": () => this.showMarked(),
      "msg:custom": (message) => this.#onMessage(message),
    };
    for (const [event, action] of Object.entries(changes)) model.on(event, action);
    const stopTheme = watchTheme(() => this.applyTheme());
    // A tab that was hidden gets its size when it is opened.
    const sizeWatch = new ResizeObserver(() => {
      if (!this.height && pane.clientHeight) {
        this.#openAtStart();
        if (this.marked.at) this.bringIntoView(this.marked.at);
      }
      this.height = pane.clientHeight;
      this.draw();
    });
    sizeWatch.observe(pane);
    this.end = () => {
      stopTheme();
      sizeWatch.disconnect();
      for (const [event, action] of Object.entries(changes)) model.off(event, action);
    };
  }

  get marked() {
    return this.model.get("marked") ?? {};
  }

  get count() {
    return Math.min(this.model.get("document")?.count ?? 0, Math.floor(MOST_PX / LINE_PX));
  }

  showDocument() {
    const shown = this.model.get("document") ?? {};
    const sameText = this.text === shown.text;
    this.text = shown.text;
    this.key = shown.key;
    this.chunks.clear();
    this.asked.clear();
    this.fold.checked = !shown.fold;
    this.spacer.style.height = `${this.count * LINE_PX}px`;
    this.spacer.style.width = "";
    this.spacer.replaceChildren();
    this.widest = 0;
    this.note.textContent = this.count < (shown.count ?? 0) ? `${number(shown.count - this.count)} more lines cannot be shown` : "";
    this.keep(shown.first ?? 1, shown.lines ?? []);
    if (!sameText) {
      this.start = Math.min(shown.start ?? 1, Math.max(this.count, 1));
      this.cursor = this.start;
      this.pane.scrollTop = 0;
      this.#openAtStart();
    }
    this.draw();
  }

  /** Begin a text at its first line that matters: once, and only a pane that is in view can scroll. */
  #openAtStart() {
    if (this.start === null || !this.pane.clientHeight) return;
    this.pane.scrollTop = (this.start - 1) * LINE_PX;
    this.start = null;
  }

  /** Keep lines that came from the kernel; a chunk counts when it is whole. */
  keep(first, lines) {
    lines.forEach((line, n) => {
      const chunk = Math.floor((first + n - 1) / CHUNK);
      if (!this.chunks.has(chunk)) this.chunks.set(chunk, new Map());
      this.chunks.get(chunk).set(first + n, line);
    });
    for (const chunk of this.chunks.keys()) {
      if (this.chunks.size <= MOST_CHUNKS) break;
      this.chunks.delete(chunk);
      this.asked.delete(chunk);
    }
  }

  line(number) {
    return this.chunks.get(Math.floor((number - 1) / CHUNK))?.get(number);
  }

  firstInView() {
    return Math.min(Math.floor(this.pane.scrollTop / LINE_PX) + 1, Math.max(this.count, 1));
  }

  /** Put the lines in view on the page, and ask for those that are not here. */
  draw() {
    const first = this.firstInView();
    const last = Math.min(first + Math.ceil(this.pane.clientHeight / LINE_PX), this.count);
    const from = Math.max(first - 10, 1);
    this.#place(from, Math.min(last + 10, this.count));
    this.#mark();
    this.#ask(from, last + 10);
    this.place.textContent = this.count ? `lines ${number(first)} to ${number(last)} of ${number(this.count)}` : "";
    this.root.dataset.first = String(first);
  }

  /** Make the rows of some lines, and keep those that are there: one of them may be pressed now. */
  #place(first, last) {
    const there = new Map([...this.spacer.children].map((row) => [Number(row.dataset.line), row]));
    for (const [number, row] of there) {
      if (number < first || number > last || row.line !== this.line(number)) row.remove();
    }
    const made = [];
    for (let number = first; number <= last; number += 1) {
      if (there.get(number)?.isConnected) continue;
      const row = rowOf(number, this.line(number), `${this.scope}-${number}`);
      row.line = this.line(number);
      made.push(row);
    }
    this.spacer.append(...made);
    // The widest line seen so far keeps the text from jumping sideways.
    const widest = Math.max(this.widest, ...made.map((row) => row.scrollWidth));
    if (widest > this.widest) this.spacer.style.width = `${widest}px`;
    this.widest = widest;
  }

  #ask(first, last) {
    for (let chunk = Math.floor((first - 1) / CHUNK); chunk <= Math.floor((Math.min(last, this.count) - 1) / CHUNK); chunk += 1) {
      const lines = [chunk * CHUNK + 1, Math.min((chunk + 1) * CHUNK, this.count)];
      const isWhole = this.chunks.get(chunk)?.size === lines[1] - lines[0] + 1;
      if (chunk < 0 || isWhole || this.asked.has(chunk)) continue;
      this.asked.add(chunk);
      this.send({ type: "lines", key: this.key, line: lines[0], last: lines[1] });
    }
  }

  #mark() {
    const { ranges = [], at } = this.marked;
    this.back.disabled = !at;
    for (const row of this.spacer.children) {
      const number = Number(row.dataset.line);
      const lit = ranges.some(([first, last]) => first <= number && number <= last);
      row.classList.toggle("hw-t-lit", lit);
      row.classList.toggle("hw-t-cursor", number === this.cursor);
      row.setAttribute("aria-selected", String(lit));
    }
    const cursor = `${this.scope}-${this.cursor}`;
    if (this.spacer.querySelector(`#${cursor}`)) this.pane.setAttribute("aria-activedescendant", cursor);
    else this.pane.removeAttribute("aria-activedescendant");
  }

  showMarked() {
    const { at } = this.marked;
    if (at) {
      this.cursor = at;
      this.bringIntoView(at);
    }
    this.draw();
  }

  /** Scroll so that a line can be read; one that can be read already stays where it is. */
  bringIntoView(line) {
    const top = (line - 1) * LINE_PX;
    const { scrollTop, clientHeight } = this.pane;
    if (top >= scrollTop && top + LINE_PX <= scrollTop + clientHeight) return;
    this.pane.scrollTop = Math.max(top - clientHeight / 2, 0);
  }

  applyTheme() {
    this.root.dataset.theme = isDark(this.el) ? "dark" : "light";
  }

  send(message) {
    tellKernel(this.model, message, (text) => (this.note.textContent = text));
  }

  #onMessage(message) {
    if (message.type !== "lines" || message.key !== this.key) return;
    this.keep(message.first, message.lines);
    this.draw();
  }

  #onClick(event) {
    const row = event.target.closest(".hw-t-row");
    // A click that ends the choice of some text to copy is none.
    if (!row || !document.getSelection().isCollapsed) return;
    this.cursor = Number(row.dataset.line);
    this.#mark();
    if ("op" in row.dataset) this.send({ type: "go", line: this.cursor });
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor(this.pane.clientHeight / LINE_PX) - 1, 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count };
    if (event.key in steps) {
      this.cursor = Math.min(Math.max(this.cursor + steps[event.key], 1), Math.max(this.count, 1));
      const top = (this.cursor - 1) * LINE_PX;
      const { scrollTop, clientHeight } = this.pane;
      if (top < scrollTop) this.pane.scrollTop = top;
      else if (top + LINE_PX > scrollTop + clientHeight) this.pane.scrollTop = top + LINE_PX - clientHeight;
      this.draw();
    } else if (event.key === "Enter") {
      if (this.line(this.cursor)?.[1]) this.send({ type: "go", line: this.cursor });
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

function render({ model, el }) {
  const view = new TextLinesView(model, el);
  return () => view.end();
}

export default { render };
