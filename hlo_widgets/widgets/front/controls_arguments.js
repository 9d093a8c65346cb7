// The arguments: a text for each, and for each dimension of an array a slider.

const FEW = 8; // so many show their sliders at once; of more, one opens them where they are wanted
const WIDEST_STEP = 16; // a slider goes from a sixteenth of the size to sixteen times it

const WIDEST_LABEL = 40; // characters; longer ones are cut, and shown whole on hover
const FIELD = [14, 40]; // characters of a text's field, at the least and at the most

/** The sizes that a slider offers around one: powers of two, and multiples of its quarter. */
function sizesAround(size) {
  const base = Math.max(size, 1);
  const sizes = new Set([size]);
  for (let power = 1; power <= base * WIDEST_STEP; power *= 2) if (power >= base / WIDEST_STEP) sizes.add(power);
  for (const quarters of [1, 2, 3, 5, 6, 7, 8, 12, 16]) if ((base * quarters) % 4 === 0) sizes.add((base * quarters) / 4);
  return [...sizes].sort((a, b) => a - b);
}

/** A slider of one dimension. It tells what it passes over, and what it is let go at. */
class DimensionSlider {
  constructor(label, onPass, onChoose) {
    this.range = html("input", "", { type: "range", min: 0, step: 1 });
    this.range.setAttribute("aria-label", label);
    this.number = html("span", "hw-size");
    this.element = html("label", "hw-dimension", { title: label }, this.number, this.range);
    this.range.addEventListener("input", () => {
      this.#say();
      onPass(this.size);
    });
    this.range.addEventListener("change", () => onChoose(this.size));
    this.sizes = [];
  }

  get size() {
    return this.sizes[Number(this.range.value)];
  }

  /** Stand at a size. The sizes offered stay while it is one of them, so that a slider can go back. */
  show(size) {
    if (!this.sizes.includes(size)) {
      this.sizes = sizesAround(size);
      this.range.max = this.sizes.length - 1;
    }
    update(this.range, "value", String(this.sizes.indexOf(size)));
    this.#say();
  }

  #say() {
    update(this.number, "textContent", String(this.size));
    this.range.setAttribute("aria-valuetext", String(this.size));
  }
}

const longestOf = (texts) => texts.reduce((longest, text) => Math.max(longest, text.length), 2);

/** One argument. */
class ArgumentRow {
  constructor(index, label, kind, isOpen, send) {
    this.send = (text) => send({ type: "argument", index, text });
    this.label = label;
    this.isOpen = isOpen;
    this.sliders = [];
    this.dimensions = [];
    this.field = html("input", "hw-entry", { type: "text", spellcheck: false, disabled: kind === "fixed" });
    this.field.setAttribute("aria-label", label);
    onEdited(this.field, (text) => this.send(text));
    this.wrong = problemLine();
    this.name = html("span", "hw-label", { textContent: label, title: label });
    this.opener = html("button", "hw-opener", { type: "button", title: "Sliders", hidden: isOpen });
    this.opener.addEventListener("click", () => {
      this.isOpen = !this.isOpen;
      this.#showSliders();
    });
    this.tray = html("span", "hw-sliders");
    this.element = html("div", "hw-argument", {}, this.name, this.field, this.opener, this.tray, this.wrong);
    this.element.dataset.label = label;
  }

  show(text, dimensions, problem) {
    fill(this.field, text, problem);
    this.dimensions = dimensions;
    this.#showSliders();
    showProblem(this.wrong, problem);
    update(this.field, "ariaInvalid", String(Boolean(problem)));
  }

  #showSliders() {
    update(this.opener, "textContent", this.isOpen ? "▾" : "▸");
    this.opener.setAttribute("aria-expanded", String(this.isOpen));
    this.opener.style.visibility = this.dimensions.length ? "" : "hidden";
    const count = this.isOpen ? this.dimensions.length : 0;
    while (this.sliders.length > count) this.sliders.pop().element.remove();
    while (this.sliders.length < count) {
      const slider = new DimensionSlider(
        `${this.label}, dimension ${this.sliders.length}`,
        () => this.#preview(),
        () => this.send(this.#written()),
      );
      this.sliders.push(slider);
      this.tray.append(slider.element);
    }
    this.sliders.forEach((slider, n) => slider.show(this.dimensions[n]));
  }

  #preview() {
    this.field.value = this.#written();
  }

  #written() {
    const type = this.field.value.split("[")[0];
    return `${type}[${this.sliders.map((slider) => slider.size).join(",")}]`;
  }
}

/** All arguments. */
class ArgumentsPanel {
  constructor(send) {
    this.send = send;
    this.rows = [];
    this.signature = "";
    this.search = html("input", "hw-search", { type: "search", placeholder: "Find an argument" });
    this.search.setAttribute("aria-label", "Find an argument");
    this.search.addEventListener("input", () => this.#filter());
    this.count = html("span", "hw-dim");
    this.head = html("div", "hw-panel-head", {}, this.search, this.count);
    this.list = html("div", "hw-list");
    this.element = html("div", "hw-arguments", {}, this.head, this.list);
  }

  show({ arguments: found, problems }) {
    const signature = JSON.stringify(found.map(([label, kind]) => [label, kind]));
    if (signature !== this.signature) {
      this.signature = signature;
      const isOpen = found.length <= FEW;
      this.rows = found.map(([label, kind], n) => new ArgumentRow(n, label, kind, isOpen, this.send));
      this.list.replaceChildren(...this.rows.map((row) => row.element));
      this.head.hidden = isOpen;
      const longest = longestOf(found.map(([label]) => label));
      this.list.style.setProperty("--hw-label-width", `${Math.min(longest + 1, WIDEST_LABEL)}ch`);
      this.#filter();
    }
    // One width for all fields and for all sizes, so that the sliders stand below each other.
    const [least, most] = FIELD;
    const width = Math.min(Math.max(longestOf(found.map(([, , text]) => text)) + 1, least), most);
    this.list.style.setProperty("--hw-field-width", `${width}ch`);
    const sizes = found.flatMap(([, , , dimensions]) => dimensions.map(String));
    this.list.style.setProperty("--hw-size-width", `${longestOf(sizes) + 1}ch`);
    found.forEach(([, , text, dimensions], n) => this.rows[n].show(text, dimensions, problems[`argument ${n}`]));
    if (!found.length) this.list.textContent = "The function has no arguments.";
  }

  #filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of this.rows) {
      const text = `${row.label} ${row.field.value}`.toLowerCase();
      row.element.hidden = !words.every((word) => text.includes(word));
      shown += !row.element.hidden;
    }
    this.count.textContent = `${number(shown)} of ${number(this.rows.length)} arguments`;
  }
}
