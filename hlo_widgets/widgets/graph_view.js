// The graph of a module: draws positions that the kernel laid out, and tells it what the user does.
//
// Everything that comes from an HLO file is set with textContent or setAttribute on elements made here;
// no markup is ever parsed. Model traits read: picture, selected, stale_reason. Messages sent:
// {type: "prepare" | "toggle" | "focus" | "hover" | "option" | "find", ...}; received: {type: "hover", id, text}.

const SVG = "http://www.w3.org/2000/svg";
const LEAST_START_SCALE = 0.92; // labels are 12 px at scale 1: 11 px is the smallest that reads well
const MOST_START_SCALE = 1.25;
const SCALES = [0.08, 4];
const HOVER_DELAY_MS = 180;
const ARROW_STEP_PX = 60;
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

let views = 0;

function render({ model, el }) {
  const scope = `hw-view-${++views}`;
  const root = make("div", { class: `hw-graph ${scope}`, "data-lm-suppress-shortcuts": "true", "data-redraws": "0" });
  const rules = document.createElement("style");
  const bar = make("div", { class: "hw-bar" });
  const pane = make("div", { class: "hw-pane" });
  const svg = make("svg", { class: "hw-svg", role: "group", tabindex: "0", "aria-label": "Graph of the compiled program" });
  const arrow = make("marker", {
    id: `${scope}-arrow`, viewBox: "0 0 8 8", refX: 7.4, refY: 4, markerWidth: 7, markerHeight: 7,
    orient: "auto-start-reverse", markerUnits: "userSpaceOnUse",
  }, make("path", { d: "M0 0.8L8 4L0 7.2z", class: "hw-tip" }));
  const world = make("g");
  svg.append(make("defs", {}, arrow), world);
  const note = make("div", { class: "hw-note", role: "status" });
  const hover = make("div", { class: "hw-hover", role: "tooltip", hidden: "" });
  const legend = make("div", { class: "hw-legend" });
  pane.append(svg, hover);
  root.append(rules, bar, note, pane, legend);
  el.append(root);

  const drawing = new Drawing(world, `${scope}-arrow`);
  const items = new Map();
  let picture = null;
  let dark = false;
  let anchor = null; // the node whose place on the screen the next picture keeps
  const hovers = new Map();
  const refreshMap = frameOnce(() => picture && overview.draw(picture, dark));
  const camera = new Camera(pane, world, refreshMap);
  const overview = new Overview(pane, camera);

  function frameOnce(work) {
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

  function button(text, title, action) {
    const b = make("button", { type: "button", title });
    b.textContent = text;
    b.addEventListener("click", action);
    bar.append(b);
    return b;
  }
  button("Fit", "Show the whole graph (key: 0)", () => picture && camera.fit(picture));
  button("\u2212", "Zoom out (key: -)", () => camera.zoom(1 / 1.25));
  button("+", "Zoom in (key: +)", () => camera.zoom(1.25));
  const colors = make("select", { title: "What the colours mean", "aria-label": "Colour by" });
  for (const [value, label] of [["kind", "Colour by kind"], ["cycles", "Colour by cycles"], ["memory", "Colour by memory"]]) {
    colors.append(new Option(label, value));
  }
  colors.addEventListener("change", () => send({ type: "option", name: "color_by", value: colors.value }));
  const plumbing = make("input", { type: "checkbox" });
  plumbing.addEventListener("change", () => send({ type: "option", name: "show_plumbing", value: plumbing.checked }));
  const plumbingLabel = make("label", { title: "Draw get-tuple-element, tuple, bitcast and scalar constants as boxes" }, plumbing, " plumbing");
  const find = make("input", { type: "search", placeholder: "Find an op\u2026", "aria-label": "Find an op by its name", list: `${scope}-names` });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && find.value.trim()) send({ type: "find", text: find.value.trim() });
    event.stopPropagation();
  });
  bar.append(colors, plumbingLabel, find);

  function send(message) {
    root.dataset.busy = "true";
    model.send(message);
  }

  function applyTheme() {
    dark = isDark(el);
    root.dataset.theme = dark ? "dark" : "light";
    refreshMap();
  }

  function showPicture() {
    const next = model.get("picture");
    delete root.dataset.busy;
    if (!next?.boxes) return;
    const first = picture === null || picture.key !== next.key;
    const held = anchor !== null && !first ? place(anchor) : null;
    picture = next;
    items.clear();
    for (const item of [...picture.frames, ...picture.boxes]) items.set(item.id, item);
    if (first) rules.textContent = themeRules(picture.styles, picture.scale, `.${scope}`);
    drawing.show(picture);
    if (first) startView();
    else if (held && items.has(anchor)) keepInPlace(held);
    else refreshMap();
    anchor = null;
    showLegend();
    colors.value = picture.color_by;
    plumbing.checked = picture.show_plumbing;
    note.textContent = picture.note;
    mark();
    root.dataset.redraws = String(Number(root.dataset.redraws) + 1);
  }

  function startView() {
    if (camera.fit(picture, MOST_START_SCALE, LEAST_START_SCALE)) return;
    camera.scale = 1;
    const start = items.get(picture.start);
    if (start) camera.center(start);
  }

  /** Where the top middle of an item is on the screen. */
  function place(id) {
    const item = items.get(id);
    return item && [(item.x + item.width / 2) * camera.scale + camera.x, item.y * camera.scale + camera.y];
  }

  function keepInPlace([x, y]) {
    const now = place(anchor);
    camera.move(camera.x + x - now[0], camera.y + y - now[1]);
  }

  function showLegend() {
    legend.replaceChildren(
      ...picture.legend.map(({ style, label, share }) => {
        const chip = make("span", { class: `hw-chip hw-style-${style}` });
        markStep(chip, share);
        const entry = make("span", { class: "hw-key" }, chip);
        entry.append(label);
        return entry;
      }),
    );
  }

  function mark() {
    const selected = model.get("selected");
    for (const [id, { element, item }] of drawing.drawn) {
      const lit = selected !== "" && item.members.length > 0 && (id === selected || id.startsWith(`${selected}@`));
      element.classList.toggle("hw-selected", lit);
      if (element.getAttribute("role") === "button") element.setAttribute("aria-pressed", String(lit));
    }
    for (const path of drawing.arrows.children) {
      path.classList.toggle("hw-lit", selected !== "" && (path.dataset.tail === selected || path.dataset.head === selected));
    }
  }

  function activate(id) {
    const item = items.get(id);
    if (!item) return;
    anchor = id;
    if (item.leads_to) send({ type: "focus", id: item.leads_to });
    else if (item.expandable) send({ type: "toggle", id });
    else select(id);
  }

  function select(id) {
    model.set("selected", id);
    model.save_changes();
    mark();
  }

  function idAt(target) {
    return target.closest?.("[data-id]")?.dataset.id;
  }

  // ---- pointer: press and drag moves, press and release in place activates
  let press = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    press = { x: event.clientX, y: event.clientY, cx: camera.x, cy: camera.y, moved: false };
    // A finger stays down for some 80 ms: time to lay out what the click will ask for.
    const id = idAt(event.target);
    if (items.get(id)?.expandable) model.send({ type: "prepare", id });
    hideHover();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!press || !(event.buttons & 1)) return;
    const [dx, dy] = [event.clientX - press.x, event.clientY - press.y];
    if (!press.moved && Math.hypot(dx, dy) > 4) {
      press.moved = true;
      svg.setPointerCapture(event.pointerId);
      pane.classList.add("hw-dragging");
    }
    if (press.moved) camera.move(press.cx + dx, press.cy + dy);
  });
  const release = () => {
    pane.classList.remove("hw-dragging");
    setTimeout(() => (press = null)); // after the click that may follow
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("click", (event) => {
    // The second click of a double click would close what the first opened.
    if (press?.moved || event.detail > 1) return;
    const id = idAt(event.target);
    if (id !== undefined) activate(id);
    else select("");
  });
  pane.addEventListener("wheel", (event) => {
    if (!(event.ctrlKey || event.metaKey)) return; // a plain wheel scrolls the notebook
    event.preventDefault();
    const box = pane.getBoundingClientRect();
    camera.zoom(Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
  }, { passive: false });

  // ---- keyboard
  root.addEventListener("keydown", (event) => {
    const id = idAt(event.target);
    const action = keyActions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || bar.contains(event.target)) return;
    if (action(id, event) === false) return;
    event.preventDefault();
    event.stopPropagation();
  });
  const keyActions = {
    Enter: (id) => (id === undefined ? false : activate(id)),
    " ": (id) => (id === undefined ? false : activate(id)),
    Escape: () => select(""),
    0: () => picture && camera.fit(picture),
    "+": () => camera.zoom(1.25),
    "=": () => camera.zoom(1.25),
    "-": () => camera.zoom(1 / 1.25),
    ArrowUp: (id) => step(id, 0, -1),
    ArrowDown: (id) => step(id, 0, 1),
    ArrowLeft: (id) => step(id, -1, 0),
    ArrowRight: (id) => step(id, 1, 0),
  };

  /** What ArrowDown and ArrowUp go to: the users or producers of a node, where it has any. */
  function neighbours(id, dy) {
    const [from, to] = dy > 0 ? ["tail", "head"] : ["head", "tail"];
    const found = picture.arrows.filter((a) => dy && a[from] === id).map((a) => items.get(a[to]));
    return found.length ? found : [...items.values()];
  }

  /** Move the keyboard focus to the nearest node in a direction, or the view when no node has it. */
  function step(id, dx, dy) {
    const from = items.get(id);
    if (!from) return camera.move(camera.x - dx * ARROW_STEP_PX, camera.y - dy * ARROW_STEP_PX);
    const middle = (item) => [item.x + item.width / 2, item.open ? item.y + 10 : item.y + item.height / 2];
    const [x, y] = middle(from);
    let best = null;
    for (const item of neighbours(id, dy)) {
      if (!item || item === from || !item.members.length) continue;
      const [ix, iy] = middle(item);
      const along = (ix - x) * dx + (iy - y) * dy;
      const aside = Math.abs((ix - x) * dy + (iy - y) * dx);
      if (along <= 1) continue;
      const distance = along + aside * 2.5;
      if (!best || distance < best.distance) best = { item, distance };
    }
    if (!best) return;
    if (!camera.holds(best.item)) camera.center(best.item);
    drawing.element(best.item.id)?.focus({ preventScroll: true });
  }
  svg.addEventListener("focusin", (event) => {
    const item = items.get(idAt(event.target));
    if (item && event.target.matches(":focus-visible") && !camera.holds(item)) camera.center(item);
    pane.scrollTo(0, 0);
  });

  // ---- hover: the full instruction, asked from the kernel once
  let waiting = 0;
  svg.addEventListener("pointerover", (event) => {
    const id = idAt(event.target);
    clearTimeout(waiting);
    if (id === undefined || press?.moved) return hideHover();
    waiting = setTimeout(() => {
      const box = pane.getBoundingClientRect();
      hover.dataset.id = id;
      hover.style.left = `${Math.min(event.clientX - box.left + 14, Math.max(box.width - 380, 8))}px`;
      hover.style.top = `${event.clientY - box.top + 16}px`;
      if (hovers.has(id)) showHover(id);
      else if (items.get(id)?.members.length) model.send({ type: "hover", id });
    }, HOVER_DELAY_MS);
  });
  svg.addEventListener("pointerleave", () => {
    clearTimeout(waiting);
    hideHover();
  });
  function hideHover() {
    hover.hidden = true;
    delete hover.dataset.id;
  }
  function showHover(id) {
    if (hover.dataset.id !== id) return;
    hover.textContent = hovers.get(id);
    hover.hidden = false;
    requestAnimationFrame(() => {
      const room = pane.clientHeight - hover.offsetHeight - 8;
      if (hover.offsetTop > room) hover.style.top = `${Math.max(room, 8)}px`;
    });
  }

  const onMessage = (message) => {
    if (message.type === "hover") {
      hovers.set(message.id, message.text);
      showHover(message.id);
    } else if (message.type === "center") {
      delete root.dataset.busy;
      const item = items.get(message.id);
      if (item && !camera.holds(item)) camera.center(item);
    } else if (message.type === "problem") {
      delete root.dataset.busy;
      note.textContent = message.text;
      note.classList.add("hw-problem");
    }
  };
  const onPicture = () => {
    note.classList.remove("hw-problem");
    hovers.clear();
    showPicture();
  };
  model.on("change:picture", onPicture);
  model.on("change:selected", mark);
  model.on("msg:custom", onMessage);

  applyTheme();
  const themeWatch = new MutationObserver(applyTheme);
  themeWatch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
  let sized = false;
  const sizeWatch = new ResizeObserver(() => {
    if (!sized && pane.clientWidth && picture) {
      sized = true; // the first size that the notebook gives the pane
      startView();
    }
    refreshMap();
  });
  sizeWatch.observe(pane);
  showPicture();

  return () => {
    themeWatch.disconnect();
    sizeWatch.disconnect();
    model.off("change:picture", onPicture);
    model.off("change:selected", mark);
    model.off("msg:custom", onMessage);
  };
}

export default { render };
