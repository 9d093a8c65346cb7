// Why neighbours stayed apart: verdicts on the arrows, and asking about any two ops.
//
// Trait of the graph's model: asked (read and set), the ids of the two ops whose explanation is open, or
// []. Received: {type: "pick", id, name}, the first op of a pair that the user wants to choose, and
// {type: "center_pair", ids}.

const HIT_WIDTH = 14; // of the invisible line that takes clicks, in the picture's pixels
const LINE_PITCH = 11.5; // of words at 10 px, as the layout reserves it
const TIP = { viewBox: "0 0 8 8", refX: 7.4, refY: 4, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" };
const TIP_PATH = "M0 0.8L8 4L0 7.2z";

/** The class of a kind of verdict: "not known" is hw-kind-not-known. */
const kindClass = (kind) => `hw-kind-${kind.replaceAll(" ", "-")}`;

/** The rules that give each kind its colour in both themes, and its dash. */
function verdictRules(kinds, scope) {
  return kinds
    .flatMap(({ kind, light, dark, dash }) => {
      const where = `${scope} .${kindClass(kind)}`;
      const dashed = dash ? `${where} > .hw-casing{stroke-dasharray:${dash}}` : "";
      return [`${where}{--hw-verdict:${light}}`, `[data-theme="dark"]${where}{--hw-verdict:${dark}}`, dashed];
    })
    .join("\n");
}

/** The verdicts of a view: a layer below its arrows, words above its boxes, and what is asked. */
class Verdicts {
  constructor(view, world) {
    this.view = view;
    this.world = world;
    this.rules = document.createElement("style");
    view.root.prepend(this.rules);
    this.lines = svg("g", { class: "hw-verdict-lines" });
    this.words = svg("g", { class: "hw-verdict-words" });
    this.tips = svg("defs");
    this.first = null; // the first op of a pair that is being chosen
    this.isLit = false;
    this.wordsOf = new Map(); // the words beside each line
    for (const [type, points] of [["pointerover", true], ["pointerout", false]]) {
      this.lines.addEventListener(type, ({ target }) => {
        this.wordsOf.get(target.closest(".hw-verdict"))?.classList.toggle("hw-pointed", points);
      });
    }
    this.lines.addEventListener("focusin", ({ target }) => {
      if (target.matches(":focus-visible")) this.#center([target.dataset.tail, target.dataset.head]);
    });
  }

  // ---- drawing

  /** Draw what a picture says of its arrows; in the plain mode nothing. */
  show(picture) {
    this.view.root.classList.toggle("hw-deciding", picture.decisions);
    this.lines.replaceChildren();
    this.words.replaceChildren();
    this.wordsOf.clear();
    if (!picture.decisions) {
      this.lines.remove();
      this.words.remove();
      return;
    }
    this.rules.textContent = verdictRules(picture.kinds, `.${this.view.scope}`);
    this.world.insertBefore(this.lines, this.view.drawing.arrows);
    this.world.append(this.words);
    this.#makeTips(picture.kinds);
    picture.arrows.forEach((arrow, number) => {
      if (arrow.kind !== "control") this.#draw(arrow);
      if (arrow.verdict) this.#color(this.view.drawing.arrows.children[number], arrow.verdict.kind);
    });
    const start = this.lines.querySelector(".hw-told") ?? this.lines.firstElementChild;
    start?.setAttribute("tabindex", "0");
  }

  /** One arrow head for each kind, in its colour. */
  #makeTips(kinds) {
    const tips = kinds.map(({ kind }) =>
      svg("marker", { ...TIP, id: this.#tip(kind), markerWidth: 11, markerHeight: 11, class: kindClass(kind) },
        svg("path", { d: TIP_PATH, class: "hw-verdict-tip" })));
    this.tips.replaceChildren(...tips);
    this.world.append(this.tips);
  }

  #tip(kind) {
    return `${this.view.scope}-${kindClass(kind)}`;
  }

  #color(arrow, kind) {
    arrow.classList.add("hw-decided", kindClass(kind));
    arrow.querySelector("path").setAttribute("marker-end", `url(#${this.#tip(kind)})`);
  }

  #draw(arrow) {
    const { verdict } = arrow;
    const short = arrow.path.replace(/L[^L]*$/, ""); // up to where the arrow head begins
    const about = verdict ? `${verdict.kind}: ${verdict.words}` : "nothing on record";
    const name = `${arrow.tail} ${arrow.kind === "apart" ? "and" : "to"} ${arrow.head}: ${about}`;
    const line = svg(
      "g",
      { class: `hw-verdict ${verdict ? `hw-told ${kindClass(verdict.kind)}` : ""}`, role: "button", tabindex: "-1", "aria-label": `${name}; Enter explains` },
      svg("title"),
      svg("path", { class: "hw-casing", d: short }),
      svg("path", { class: "hw-hit", d: arrow.path, "stroke-width": HIT_WIDTH }),
    );
    line.firstChild.textContent = name;
    this.#mark(line, arrow);
    this.lines.append(line);
    if (verdict?.lines.length) this.wordsOf.set(line, this.#write(arrow));
  }

  #write({ verdict, ...arrow }) {
    const [x, y] = verdict.at;
    const inferred = verdict.mark === "inferred" ? " hw-inferred" : "";
    const crowded = verdict.has_room ? "" : " hw-crowded"; // what covers something is shown when asked for
    const look = `hw-words ${kindClass(verdict.kind)}${inferred}${crowded}`;
    const group = svg("g", { class: look, "aria-hidden": "true" });
    const plate = this.#plate(verdict.lines, x, y);
    if (verdict.lead) group.append(this.#lead(verdict.lead, plate));
    if (crowded) group.append(plate);
    verdict.lines.forEach((content, number) => {
      const down = y + (number - (verdict.lines.length - 1) / 2) * LINE_PITCH + 3.4;
      const text = svg("text", { x, y: down.toFixed(1) });
      text.textContent = content;
      group.append(text);
    });
    this.#mark(group, arrow);
    this.words.append(group);
    return group;
  }

  /** A thin line from an arrow to the words that stand aside of it. */
  #lead([x, y], plate) {
    const at = (name) => Number(plate.getAttribute(name));
    const near = (place, start, length) => Math.min(Math.max(place, start), start + length);
    const end = [near(x, at("x"), at("width")), near(y, at("y"), at("height"))];
    return svg("path", { class: "hw-lead", d: `M${x} ${y}L${end.join(" ")}` });
  }

  /** What makes words over boxes readable. */
  #plate(lines, x, y) {
    measuring.font = `10px ${this.view.drawing.font}`;
    const width = Math.max(...lines.map((content) => measuring.measureText(content).width)) + 8;
    const height = lines.length * LINE_PITCH + 5;
    return svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 3 });
  }

  #mark(element, { tail, head, kind }) {
    Object.assign(element.dataset, { tail, head, kind });
  }

  /** The legend of the kinds in the picture. @returns {Element[]} */
  legend(picture) {
    if (!picture.decisions) return [];
    const keys = picture.kinds.filter(({ count }) => count).map(({ kind, label }) => {
      const sample = svg("svg", { class: `hw-sample ${kindClass(kind)}`, width: 30, height: 10, "aria-hidden": "true" },
        svg("path", { class: "hw-casing", d: "M1 5H29" }));
      return html("span", "hw-key", "", sample, label);
    });
    const inferred = picture.arrows.some(({ verdict }) => verdict?.mark === "inferred");
    if (inferred) keys.push(html("span", "hw-key hw-inferred", "in italics: inferred from the graph"));
    return keys;
  }

  /** Bring out the verdicts of the selected op: the others step back. */
  choose(isSelected) {
    let any = false;
    for (const layer of [this.lines, this.words]) {
      for (const item of layer.children) {
        const near = isSelected(item.dataset.tail) || isSelected(item.dataset.head);
        item.classList.toggle("hw-near", near);
        any ||= near && item.classList.contains("hw-told");
      }
    }
    this.view.root.classList.toggle("hw-chosen", any);
  }

  /** Light the two ops that are asked about, and the arrow between them. */
  light() {
    const asked = this.view.model.get("asked") ?? [];
    if (!asked.length && !this.isLit) return; // nothing to light, and nothing to put out
    this.isLit = asked.length > 0;
    const is = (id, end) => asked.length === 2 && (id === end || id.startsWith(`${end}/`) || id.startsWith(`${end}@`));
    for (const [id, { element }] of this.view.drawing.drawn) {
      element.classList.toggle("hw-asked", asked.includes(id) || asked.some((end) => id.startsWith(`${end}@`) && !element.dataset.root));
    }
    for (const layer of [this.view.drawing.arrows, this.lines, this.words]) {
      for (const item of layer.children) {
        const lit = is(item.dataset.tail, asked[0]) && is(item.dataset.head, asked[1]);
        item.classList.toggle("hw-asked", lit);
      }
    }
  }

  // ---- asking

  /** Open the explanation of two ops; of none close it. */
  ask(...ids) {
    this.stopPicking();
    const { model } = this.view;
    model.set("selected", "");
    model.set("asked", ids);
    this.view.tell(null);
    this.view.mark();
  }

  /** What the kernel asks for. @returns {boolean} whether the message was one of these */
  receive(message) {
    if (message.type === "pick") this.#startPicking(message);
    else if (message.type === "center_pair") this.#center(message.ids);
    else return false;
    return true;
  }

  #startPicking({ id, name }) {
    this.first = id;
    this.view.pane.classList.add("hw-picking");
    this.view.say(`Why is ${name} not one kernel with …? Choose the other op: click it, or go to it by keys and press Enter. Esc cancels.`);
    const start = this.view.drawing.element(id) ?? this.view.svg;
    start.focus({ preventScroll: true });
    start.scrollIntoView?.({ block: "nearest" });
  }

  stopPicking() {
    if (this.first === null) return;
    this.first = null;
    this.view.pane.classList.remove("hw-picking");
    this.view.say(this.view.picture?.note ?? "");
  }

  /** Take an op as the second of a pair. @returns {boolean} whether a pair is being chosen */
  pick(id) {
    if (this.first === null) return false;
    if (id !== this.first && this.view.items.get(id)?.members.length) this.ask(this.first, id);
    return true;
  }

  /** Bring two ops into view; where both do not fit, the words between them. */
  #center(ids) {
    const words = [...this.words.children].find(({ dataset }) => dataset.tail === ids[0] && dataset.head === ids[1]);
    const found = ids.map((id) => this.view.items.get(id)).filter(Boolean);
    if (!found.length) return;
    const x = Math.min(...found.map((item) => item.x));
    const y = Math.min(...found.map((item) => item.y));
    const width = Math.max(...found.map((item) => item.x + item.width)) - x;
    const height = Math.max(...found.map((item) => item.y + item.height)) - y;
    const { camera } = this.view;
    const size = camera.size();
    const fits = width * camera.scale <= size.width && height * camera.scale <= size.height;
    if (fits || !words) this.view.bringIntoView({ x, y, width, height });
    else this.view.bringIntoView(words.getBBox());
  }

  // ---- what the user does: each returns whether it was for this

  takesClick(event) {
    const line = event.target.closest?.(".hw-verdict, .hw-words");
    if (line && this.first === null) {
      this.ask(line.dataset.tail, line.dataset.head);
      return true;
    }
    const id = idAt(event.target);
    if (this.first !== null) return id === undefined || this.pick(id);
    const selected = this.view.model.get("selected");
    if (!event.shiftKey || id === undefined || !selected || id === selected) return false;
    if (this.view.items.get(id)?.members.length) this.ask(selected, id);
    return true;
  }

  takesKey(event) {
    if (event.key === "Escape" && this.first !== null) {
      this.stopPicking();
      return true;
    }
    const line = event.target.closest?.(".hw-verdict");
    if (!line) return false;
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const ends = [line.dataset.tail, line.dataset.head];
    if (event.key === "Enter" || event.key === " ") {
      this.ask(...ends);
      this.#center(ends);
    } else if (event.key in steps) this.#step(line, steps[event.key]);
    else return false;
    return true;
  }

  /** Move the focus to the next arrow that has a verdict, round and round. */
  #step(line, by) {
    const told = [...this.lines.querySelectorAll(".hw-told")];
    const all = told.length ? told : [...this.lines.children];
    const next = all[(all.indexOf(line) + by + all.length) % all.length];
    line.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus({ preventScroll: true });
  }
}
