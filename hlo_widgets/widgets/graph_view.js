// The graph of a module: draws positions that the kernel laid out, and tells it what the user does.
//
// Everything that comes from an HLO file is set with textContent or setAttribute on elements made here;
// no markup is ever parsed. Model traits: picture (read), selected (read and set). Messages sent:
// {type: "prepare" | "hover", id}, and {type: "toggle" | "focus" | "option" | "find", ...}, which the
// kernel answers with "ready" when all it changed is on its way. Received: {type: "hover", id, text},
// {type: "center", id}, {type: "problem", text}, {type: "ready"}.

const SVG = "http://www.w3.org/2000/svg";
const LEAST_START_SCALE = 0.92; // labels are 12 px at scale 1: 11 px is the smallest that reads well
const MOST_START_SCALE = 1.25;
const SCALES = [0.08, 4];
const HOVER_DELAY_MS = 180;
const ARROW_STEP_PX = 60;
const ZOOM_STEP = 1.25;
const PATIENCE_MS = 3000;
const PATIENCE = "The kernel has not answered yet: it is busy, or it was restarted and the cell must run again.";
const MAP_SIZE = [144, 108]; // as in the style sheet

/** Make an element with attributes and children. @returns {Element} */
function make(tag, attributes = {}, ...children) {
  const svgTags = ["svg", "g", "rect", "path", "text", "tspan", "defs", "marker", "title"];
  const element = svgTags.includes(tag)
    ? document.createElementNS(SVG, tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Whether the page around is dark: JupyterLab says so, elsewhere the background's brightness does. */
export function isDark(el) {
  const lab = document.body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false";
  for (let node = el; node; node = node.parentElement) {
    const parts = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
    if (parts && (parts.length < 4 || parts[3] > 0)) {
      return 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2] < 128;
    }
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

const measuring = document.createElement("canvas").getContext("2d");

/** Squeeze a text into a width when this browser's font is wider than the one it was laid out with. */
function fit(text, content, font, room) {
  measuring.font = font;
  if (measuring.measureText(content).width > room) {
    text.setAttribute("textLength", room.toFixed(1));
    text.setAttribute("lengthAdjust", "spacingAndGlyphs");
  }
}

/** The drawing itself: SVG elements keyed by id, so that what stays is moved, not made again. */
class Drawing {
  constructor(world, arrowId) {
    this.arrowId = arrowId;
    this.frames = world.appendChild(make("g", { class: "hw-frames" }));
    this.arrows = world.appendChild(make("g", { class: "hw-arrows" }));
    this.boxes = world.appendChild(make("g", { class: "hw-boxes" }));
    this.drawn = new Map();
    this.font = "";
  }

  /** Draw a picture. @returns {void} */
  show(picture) {
    this.font ||= getComputedStyle(this.boxes).fontFamily;
    const kept = new Set([...picture.frames, ...picture.boxes].map((item) => item.id));
    for (const [id, old] of this.drawn) if (!kept.has(id)) old.element.remove();
    const next = new Map();
    picture.frames.forEach((item, at) => this.#keep(next, item, this.frames, at, drawFrame));
    picture.boxes.forEach((item, at) => this.#keep(next, item, this.boxes, at, drawBox));
    this.drawn = next;
    this.#drawArrows(picture.arrows);
  }

  element(id) {
    return this.drawn.get(id)?.element;
  }

  #keep(next, item, layer, at, draw) {
    const look = JSON.stringify([item.width, item.height, item.lines, item.style, item.root, item.share]);
    let entry = this.drawn.get(item.id);
    if (!entry || entry.look !== look || entry.layer !== layer) {
      const focused = entry?.element.contains(document.activeElement);
      entry?.element.remove();
      entry = { element: draw(item, this.font), look, layer };
      if (focused) requestAnimationFrame(() => entry.element.focus({ preventScroll: true }));
    }
    entry.element.setAttribute("transform", `translate(${item.x} ${item.y})`);
    entry.item = item;
    // Tab follows the order of the elements: keep the picture's, moving as few as possible.
    if (layer.children[at] !== entry.element) layer.insertBefore(entry.element, layer.children[at] ?? null);
    next.set(item.id, entry);
  }

  #drawArrows(arrows) {
    const old = [...this.arrows.children];
    arrows.forEach((arrow, number) => {
      const path = old[number] ?? this.arrows.appendChild(make("g", {}, make("path"), make("text")));
      path.setAttribute("class", `hw-arrow hw-${arrow.kind}`);
      path.dataset.tail = arrow.tail;
      path.dataset.head = arrow.head;
      path.firstChild.setAttribute("d", arrow.path);
      path.firstChild.setAttribute("marker-end", `url(#${this.arrowId})`);
      path.lastChild.textContent = arrow.label;
      if (arrow.at) {
        path.lastChild.setAttribute("x", arrow.at[0]);
        path.lastChild.setAttribute("y", arrow.at[1] + 3);
      }
    });
    for (const extra of old.slice(arrows.length)) extra.remove();
  }
}

/** Give an element its colour on the scale of five steps, where it has a place on it. */
function markStep(element, share) {
  if (share !== null) element.dataset.step = String(Math.min(Math.floor(share * 5), 4));
}

function colored(item, className) {
  const group = make("g", {
    class: `${className} hw-style-${item.style}`,
    role: "button",
    tabindex: item.members.length || item.leads_to ? "0" : "-1",
    "aria-label": item.lines.join(", "),
  });
  if (item.expandable) group.setAttribute("aria-expanded", String(item.open));
  group.dataset.id = item.id;
  if (item.members.length) group.dataset.name = item.members.at(-1);
  group.dataset.members = item.members.join(" ");
  if (item.root) group.dataset.root = "true";
  markStep(group, item.share);
  return group;
}

function drawBox(item, font) {
  const group = colored(item, "hw-box");
  const radius = item.expandable ? 7 : 1.5;
  group.append(make("rect", { width: item.width, height: item.height, rx: radius }));
  const lines = item.root ? [...item.lines, "ROOT"] : item.lines;
  const pitch = item.height / (lines.length + 0.55);
  lines.forEach((line, number) => {
    const weight = number === 0 && lines.length > 1 ? 600 : 400;
    const y = pitch * (number + 0.775) + 4.2;
    const text = make("text", { x: item.width / 2, y: y.toFixed(1), "font-weight": weight });
    text.textContent = line;
    if (item.root && number === lines.length - 1) text.setAttribute("class", "hw-root");
    fit(text, line, `${weight} 12px ${font}`, item.width - 6);
    group.append(text);
  });
  return group;
}

function drawFrame(item, font) {
  const group = colored(item, "hw-frame");
  group.append(make("rect", { width: item.width, height: item.height, rx: 9 }));
  const sign = item.expandable ? "\u2212 " : "";
  item.lines.forEach((line, number) => {
    const text = make("text", { x: item.width / 2, y: 17 + number * 14.5, "font-weight": number ? 400 : 600 });
    text.textContent = number ? line : sign + line;
    fit(text, text.textContent, `${number ? 400 : 600} 12px ${font}`, item.width - 8);
    group.append(text);
  });
  return group;
}

/** Position and scale of the picture in its pane. */
class Camera {
  constructor(pane, world, onMove) {
    Object.assign(this, { pane, world, onMove, x: 0, y: 0, scale: 1 });
  }

  move(x, y, scale = this.scale) {
    this.scale = Math.min(Math.max(scale, SCALES[0]), SCALES[1]);
    this.x = x;
    this.y = y;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${this.scale})`);
    this.onMove();
  }

  zoom(factor, at) {
    const size = this.size();
    const [px, py] = at ?? [size.width / 2, size.height / 2];
    const scale = Math.min(Math.max(this.scale * factor, SCALES[0]), SCALES[1]);
    const ratio = scale / this.scale;
    this.move(px - (px - this.x) * ratio, py - (py - this.y) * ratio, scale);
  }

  size() {
    return { width: this.pane.clientWidth || 600, height: this.pane.clientHeight || 400 };
  }

  fit(picture, most = MOST_START_SCALE, least = SCALES[0]) {
    const { width, height } = this.size();
    const wanted = Math.min((width - 24) / picture.width, (height - 24) / picture.height, most);
    const scale = Math.max(wanted, least);
    this.scale = scale;
    this.move((width - picture.width * scale) / 2, (height - picture.height * scale) / 2, scale);
    return wanted >= least;
  }

  center(item) {
    const { width, height } = this.size();
    const x = item.x + item.width / 2;
    const y = item.y + Math.min(item.height / 2, height / this.scale / 2 - 20);
    this.move(width / 2 - x * this.scale, height / 2 - y * this.scale);
  }

  /** Whether an item lies wholly in the pane. */
  holds(item) {
    const { width, height } = this.size();
    const left = item.x * this.scale + this.x;
    const top = item.y * this.scale + this.y;
    return (
      left >= 0 && top >= 0 &&
      left + item.width * this.scale <= width &&
      top + item.height * this.scale <= height
    );
  }
}

/** The overview map: the whole picture small, with the part in the pane marked. */
class Overview {
  constructor(host, camera) {
    this.camera = camera;
    this.canvas = make("canvas", { class: "hw-map", role: "img", "aria-label": "Overview map: press to move the view" });
    host.append(this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.canvas.setPointerCapture(event.pointerId);
      this.#goTo(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) this.#goTo(event);
    });
  }

  #goTo(event) {
    const { width, height } = this.camera.size();
    const x = (event.offsetX - this.left) / this.ratio;
    const y = (event.offsetY - this.top) / this.ratio;
    this.camera.move(width / 2 - x * this.camera.scale, height / 2 - y * this.camera.scale);
  }

  draw(picture, dark) {
    const { width, height } = this.camera.size();
    const scale = this.camera.scale;
    const all = picture.width * scale <= width + 1 && picture.height * scale <= height + 1;
    this.canvas.hidden = all;
    if (all) return;
    const [wide, high] = MAP_SIZE;
    const pixels = devicePixelRatio || 1;
    if (this.canvas.width !== wide * pixels) {
      this.canvas.width = wide * pixels;
      this.canvas.height = high * pixels;
    }
    const paint = this.canvas.getContext("2d");
    paint.setTransform(pixels, 0, 0, pixels, 0, 0);
    paint.clearRect(0, 0, wide, high);
    this.ratio = Math.min((wide - 8) / picture.width, (high - 8) / picture.height);
    this.left = (wide - picture.width * this.ratio) / 2;
    this.top = (high - picture.height * this.ratio) / 2;
    const rect = (item, least) => [
      this.left + item.x * this.ratio, this.top + item.y * this.ratio,
      Math.max(item.width * this.ratio, least), Math.max(item.height * this.ratio, least),
    ];
    for (const item of [...picture.frames, ...picture.boxes]) {
      paint.fillStyle = item.fill[dark ? 1 : 0] + (item.expandable && item.open ? "55" : "");
      paint.strokeStyle = dark ? "#8b9096" : "#6b7580";
      paint.lineWidth = 0.3;
      paint.fillRect(...rect(item, 1.2));
      paint.strokeRect(...rect(item, 1.2));
    }
    paint.strokeStyle = dark ? "#ffd54f" : "#c2185b";
    paint.lineWidth = 1.5;
    const seen = { x: -this.camera.x / scale, y: -this.camera.y / scale, width: width / scale, height: height / scale };
    const [x, y, w, h] = rect(seen, 2);
    const x0 = Math.max(x, 1), y0 = Math.max(y, 1);
    paint.strokeRect(x0, y0, Math.min(x + w, wide - 1) - x0, Math.min(y + h, high - 1) - y0);
  }
}

function themeRules(styles, scale, scope) {
  const rule = (key, [fill, stroke, text], dark) => {
    const where = `${dark ? '[data-theme="dark"]' : ""}${scope} .hw-style-${key}`;
    return `${where}{--hw-fill:${fill};--hw-stroke:${stroke};--hw-text:${text}}`;
  };
  const step = (number, [fill, text], dark) =>
    `${dark ? '[data-theme="dark"]' : ""}${scope} [data-step="${number}"]{--hw-fill:${fill};--hw-text:${text}}`;
  return [
    ...Object.entries(styles).flatMap(([key, s]) => [rule(key, s.light, false), rule(key, s.dark, true)]),
    ...scale.light.map((s, i) => step(i, s, false)),
    ...scale.dark.map((s, i) => step(i, s, true)),
  ].join("\n");
}

/** The box that shows the whole instruction under the pointer, asked from the kernel once. */
class Hover {
  constructor(pane, ask) {
    this.pane = pane;
    this.ask = ask;
    this.texts = new Map();
    this.box = make("div", { class: "hw-hover", role: "tooltip", hidden: "" });
    pane.append(this.box);
  }

  wait(id, event) {
    this.hide();
    this.timer = setTimeout(() => {
      const pane = this.pane.getBoundingClientRect();
      this.id = id;
      this.box.style.left = `${Math.min(event.clientX - pane.left + 14, Math.max(pane.width - 380, 8))}px`;
      this.box.style.top = `${event.clientY - pane.top + 16}px`;
      if (this.texts.has(id)) this.show(id);
      else this.ask(id);
    }, HOVER_DELAY_MS);
  }

  receive(id, text) {
    this.texts.set(id, text);
    this.show(id);
  }

  show(id) {
    if (this.id !== id) return;
    this.box.textContent = this.texts.get(id);
    this.box.hidden = false;
    requestAnimationFrame(() => {
      const room = this.pane.clientHeight - this.box.offsetHeight - 8;
      if (this.box.offsetTop > room) this.box.style.top = `${Math.max(room, 8)}px`;
    });
  }

  hide() {
    clearTimeout(this.timer);
    this.box.hidden = true;
    this.id = undefined;
  }
}

/** The buttons and choices above the picture. */
class Toolbar {
  constructor(camera, fit, send) {
    this.element = make("div", { class: "hw-bar" });
    this.#button("Fit", "Show the whole graph (key: 0)", fit);
    this.#button("\u2212", "Zoom out (key: -)", () => camera.zoom(1 / ZOOM_STEP));
    this.#button("+", "Zoom in (key: +)", () => camera.zoom(ZOOM_STEP));
    this.colors = make("select", { title: "What the colours mean", "aria-label": "Colour by" });
    for (const by of ["kind", "cycles", "memory"]) this.colors.append(new Option(`Colour by ${by}`, by));
    this.colors.addEventListener("change", () => send({ type: "option", name: "color_by", value: this.colors.value }));
    this.plumbing = make("input", { type: "checkbox" });
    this.plumbing.addEventListener("change", () =>
      send({ type: "option", name: "show_plumbing", value: this.plumbing.checked }),
    );
    const title = "Draw get-tuple-element, tuple, bitcast and scalar constants as boxes";
    const find = make("input", { type: "search", placeholder: "Find an op\u2026", "aria-label": "Find an op by its name" });
    find.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && find.value.trim()) send({ type: "find", text: find.value.trim() });
      event.stopPropagation();
    });
    this.element.append(this.colors, make("label", { title }, this.plumbing, " plumbing"), find);
  }

  show(picture) {
    this.colors.value = picture.color_by;
    this.plumbing.checked = picture.show_plumbing;
  }

  #button(text, title, action) {
    const button = make("button", { type: "button", title });
    button.textContent = text;
    button.addEventListener("click", action);
    this.element.append(button);
  }
}

/** Do the work once in the next frame, however often it is asked for. */
function onceAFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

function idAt(target) {
  return target.closest?.("[data-id]")?.dataset.id;
}

let views = 0;

/** One view of the model: the drawing with everything around it, and what the user does to it. */
class View {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.scope = `hw-view-${++views}`;
    this.items = new Map();
    this.picture = null;
    this.anchor = null; // the node whose place on the screen the next picture keeps
    this.press = null; // where the pointer went down
    this.#build();
    this.#listen();
    this.applyTheme();
    this.showPicture();
  }

  #build() {
    const arrowId = `${this.scope}-arrow`;
    const marker = make("marker", {
      id: arrowId, viewBox: "0 0 8 8", refX: 7.4, refY: 4, markerWidth: 7, markerHeight: 7,
      orient: "auto-start-reverse", markerUnits: "userSpaceOnUse",
    }, make("path", { d: "M0 0.8L8 4L0 7.2z", class: "hw-tip" }));
    const world = make("g");
    this.svg = make("svg", { class: "hw-svg", role: "group", tabindex: "0", "aria-label": "Graph of the compiled program" });
    this.svg.append(make("defs", {}, marker), world);
    this.pane = make("div", { class: "hw-pane" }, this.svg);
    this.rules = document.createElement("style");
    this.note = make("div", { class: "hw-note", role: "status" });
    this.legend = make("div", { class: "hw-legend" });
    this.root = make("div", { class: `hw-graph ${this.scope}`, "data-lm-suppress-shortcuts": "true", "data-redraws": "0" });
    this.drawing = new Drawing(world, arrowId);
    this.refreshMap = onceAFrame(() => this.picture && this.overview.draw(this.picture, this.dark));
    this.camera = new Camera(this.pane, world, this.refreshMap);
    this.overview = new Overview(this.pane, this.camera);
    this.hover = new Hover(this.pane, (id) => this.items.get(id)?.members.length && this.model.send({ type: "hover", id }));
    this.toolbar = new Toolbar(this.camera, () => this.fit(), (message) => this.send(message));
    this.root.append(this.rules, this.toolbar.element, this.note, this.pane, this.legend);
    this.el.append(this.root);
  }

  #listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.#onPress(event));
    svg.addEventListener("pointermove", (event) => this.#onDrag(event));
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => this.#onRelease());
    svg.addEventListener("click", (event) => this.#onClick(event));
    svg.addEventListener("pointerover", (event) => {
      const id = idAt(event.target);
      if (id === undefined || this.press?.moved) this.hover.hide();
      else this.hover.wait(id, event);
    });
    svg.addEventListener("pointerleave", () => this.hover.hide());
    svg.addEventListener("focusin", (event) => {
      const item = this.items.get(idAt(event.target));
      if (item && event.target.matches(":focus-visible")) this.bringIntoView(item);
      this.pane.scrollTo(0, 0); // the browser scrolls what it focuses; the camera has moved already
    });
    this.pane.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    this.root.addEventListener("keydown", (event) => this.#onKey(event));
    const changes = {
      "change:picture": () => this.#onPicture(),
      "change:selected": () => this.mark(),
      "msg:custom": (message) => this.#onMessage(message),
    };
    for (const [event, action] of Object.entries(changes)) this.model.on(event, action);
    const themeWatch = new MutationObserver(() => this.applyTheme());
    themeWatch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    let sized = false;
    const sizeWatch = new ResizeObserver(() => {
      if (!sized && this.pane.clientWidth && this.picture) {
        sized = true; // the first size that the notebook gives the pane
        this.startView();
      }
      this.refreshMap();
    });
    sizeWatch.observe(this.pane);
    this.end = () => {
      themeWatch.disconnect();
      sizeWatch.disconnect();
      clearTimeout(this.patience);
      this.hover.hide();
      for (const [event, action] of Object.entries(changes)) this.model.off(event, action);
    };
  }

  // ---- what the kernel says

  /** Ask the kernel for something that it answers with "ready". */
  send(message) {
    this.root.dataset.busy = "true";
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.say(PATIENCE, true), PATIENCE_MS);
    this.model.send(message);
  }

  say(text, isProblem = false) {
    this.note.textContent = text;
    this.note.classList.toggle("hw-problem", isProblem);
  }

  #onMessage(message) {
    const item = this.items.get(message.id);
    if (message.type === "hover") this.hover.receive(message.id, message.text);
    else if (message.type === "center" && item) this.bringIntoView(item);
    else if (message.type === "problem") this.say(message.text, true);
    else if (message.type === "ready") this.#onReady();
  }

  #onReady() {
    clearTimeout(this.patience);
    delete this.root.dataset.busy;
    if (this.note.textContent === PATIENCE) this.say(this.picture?.note ?? "");
  }

  #onPicture() {
    this.hover.hide();
    this.hover.texts.clear();
    this.showPicture();
  }

  // ---- the picture

  showPicture() {
    const next = this.model.get("picture");
    if (!next?.boxes) return;
    const first = this.picture === null || this.picture.key !== next.key;
    const held = this.anchor !== null && !first ? this.place(this.anchor) : null;
    this.picture = next;
    this.items = new Map([...next.frames, ...next.boxes].map((item) => [item.id, item]));
    if (first) this.rules.textContent = themeRules(next.styles, next.scale, `.${this.scope}`);
    this.drawing.show(next);
    if (first) this.startView();
    else if (held && this.items.has(this.anchor)) this.keepInPlace(held);
    else this.refreshMap();
    this.anchor = null;
    this.toolbar.show(next);
    this.showLegend();
    this.say(next.note);
    this.mark();
    this.root.dataset.redraws = String(Number(this.root.dataset.redraws) + 1);
  }

  fit() {
    if (this.picture) this.camera.fit(this.picture);
  }

  startView() {
    if (this.camera.fit(this.picture, MOST_START_SCALE, LEAST_START_SCALE)) return;
    this.camera.scale = 1;
    const start = this.items.get(this.picture.start);
    if (start) this.camera.center(start);
  }

  /** Where the top middle of an item is on the screen. */
  place(id) {
    const item = this.items.get(id);
    const { scale, x, y } = this.camera;
    return item && [(item.x + item.width / 2) * scale + x, item.y * scale + y];
  }

  keepInPlace([x, y]) {
    const now = this.place(this.anchor);
    this.camera.move(this.camera.x + x - now[0], this.camera.y + y - now[1]);
  }

  bringIntoView(item) {
    if (!this.camera.holds(item)) this.camera.center(item);
  }

  showLegend() {
    const entries = this.picture.legend.map(({ style, label, share }) => {
      const chip = make("span", { class: `hw-chip hw-style-${style}` });
      markStep(chip, share);
      return make("span", { class: "hw-key" }, chip, label);
    });
    this.legend.replaceChildren(...entries);
  }

  /** Light the selected node and its arrows. */
  mark() {
    const selected = this.model.get("selected");
    const isSelected = (id) => selected !== "" && (id === selected || id.startsWith(`${selected}@`));
    for (const [id, { element, item }] of this.drawing.drawn) {
      const lit = item.members.length > 0 && isSelected(id);
      element.classList.toggle("hw-selected", lit);
      element.setAttribute("aria-pressed", String(lit));
    }
    for (const arrow of this.drawing.arrows.children) {
      arrow.classList.toggle("hw-lit", isSelected(arrow.dataset.tail) || isSelected(arrow.dataset.head));
    }
  }

  applyTheme() {
    this.dark = isDark(this.el);
    this.root.dataset.theme = this.dark ? "dark" : "light";
    this.refreshMap();
  }

  // ---- what the user does

  activate(id) {
    const item = this.items.get(id);
    if (!item) return;
    this.anchor = id;
    if (item.leads_to) this.send({ type: "focus", id: item.leads_to });
    else if (item.expandable) this.send({ type: "toggle", id });
    else this.select(id);
  }

  select(id) {
    this.model.set("selected", id);
    this.model.save_changes();
    this.mark();
  }

  #onPress(event) {
    if (event.button !== 0) return;
    this.hover.hide();
    this.press = { x: event.clientX, y: event.clientY, cx: this.camera.x, cy: this.camera.y, moved: false };
    // A finger stays down for some 80 ms: time to lay out what the click will ask for.
    const id = idAt(event.target);
    if (this.items.get(id)?.expandable) this.model.send({ type: "prepare", id });
  }

  #onDrag(event) {
    const { press } = this;
    if (!press || !(event.buttons & 1)) return;
    const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
    if (!press.moved && Math.hypot(dx, dy) > 4) {
      press.moved = true;
      this.svg.setPointerCapture(event.pointerId);
      this.pane.classList.add("hw-dragging");
    }
    if (press.moved) this.camera.move(press.cx + dx, press.cy + dy);
  }

  #onRelease() {
    this.pane.classList.remove("hw-dragging");
    setTimeout(() => (this.press = null)); // after the click that may follow
  }

  #onClick(event) {
    // The second click of a double click would close what the first opened.
    if (this.press?.moved || event.detail > 1) return;
    const id = idAt(event.target);
    if (id === undefined) this.select("");
    else this.activate(id);
  }

  #onWheel(event) {
    if (!(event.ctrlKey || event.metaKey)) return; // a plain wheel scrolls the notebook
    event.preventDefault();
    const box = this.pane.getBoundingClientRect();
    this.camera.zoom(Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.toolbar.element.contains(event.target)) return;
    const id = idAt(event.target);
    const actions = {
      Enter: id && (() => this.activate(id)),
      " ": id && (() => this.activate(id)),
      Escape: () => this.select(""),
      0: () => this.fit(),
      "+": () => this.camera.zoom(ZOOM_STEP),
      "=": () => this.camera.zoom(ZOOM_STEP),
      "-": () => this.camera.zoom(1 / ZOOM_STEP),
      ArrowUp: () => this.step(id, 0, -1),
      ArrowDown: () => this.step(id, 0, 1),
      ArrowLeft: () => this.step(id, -1, 0),
      ArrowRight: () => this.step(id, 1, 0),
    };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }

  /** What ArrowDown and ArrowUp go to: the users or producers of a node, where it has any. */
  neighbours(id, dy) {
    const [from, to] = dy > 0 ? ["tail", "head"] : ["head", "tail"];
    const found = this.picture.arrows.filter((a) => dy && a[from] === id).map((a) => this.items.get(a[to]));
    return found.length ? found : [...this.items.values()];
  }

  /** Move the keyboard focus to the nearest node in a direction, or the view when no node has it. */
  step(id, dx, dy) {
    const from = this.items.get(id);
    if (!from) return this.camera.move(this.camera.x - dx * ARROW_STEP_PX, this.camera.y - dy * ARROW_STEP_PX);
    const middle = (item) => [item.x + item.width / 2, item.open ? item.y + 10 : item.y + item.height / 2];
    const [x, y] = middle(from);
    let best = null;
    for (const item of this.neighbours(id, dy)) {
      if (!item || item === from || !item.members.length) continue;
      const [ix, iy] = middle(item);
      const along = (ix - x) * dx + (iy - y) * dy;
      const aside = Math.abs((ix - x) * dy + (iy - y) * dx);
      const distance = along + aside * 2.5; // what lies straight ahead comes first
      if (along > 1 && (!best || distance < best.distance)) best = { item, distance };
    }
    if (!best) return;
    this.bringIntoView(best.item);
    this.drawing.element(best.item.id)?.focus({ preventScroll: true });
  }
}

function render({ model, el }) {
  const view = new View(model, el);
  return () => view.end();
}

export default { render };
