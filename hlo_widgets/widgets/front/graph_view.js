// The graph of a module: draws positions that the kernel laid out, and tells it what the user does.
//
// Model traits: picture (read), selected and asked (read and set). Messages sent:
// {type: "prepare" | "hover", id}, and {type: "toggle" | "focus" | "option" | "find" | "stop", ...}, which the
// kernel answers with "working" when that takes time, and with "ready" when all is there. Received besides:
// {type: "hover", id, text}, {type: "center", id}, {type: "reveal", ids}, {type: "note" | "problem", text}, and
// those of verdicts.js.

const LEAST_START_SCALE = 0.92; // labels are 12 px at scale 1: 11 px is the smallest that reads well
const LEAST_WHOLE_SCALE = 0.84; // 10 px still reads, and a little smaller is better than a part cut off
const MOST_START_SCALE = 1.25;
const LEAST_READ_SCALE = 0.7; // what is opened is gone to below it; arbitrary, about 8 px
const REVEAL_MARGIN_PX = 24; // between what is brought into view and the edge
const ARROW_STEP_PX = 60;
const THEME_MS = 300; // for less than that JupyterLab shows nothing when its theme changes
const PATIENCE_MS = 3000;
const LAYOUT_PATIENCE_MS = 40_000; // a layout is ended after 30 s
const PATIENCE = "The kernel has not answered yet: it is busy, or it was restarted and the cell must run again.";

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

/** The id under the pointer, where an arrow lies over it, too. */
function idUnder(event) {
  if (!event.target.closest?.(".hw-arrow")) return idAt(event.target);
  const under = document.elementsFromPoint(event.clientX, event.clientY).find((one) => !one.closest(".hw-arrow"));
  return under && idAt(under);
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
    this.rests = false; // whether the pointer has not moved since the last click
    this.#build();
    this.#listen();
    this.applyTheme();
    this.showPicture();
  }

  #build() {
    const arrowId = `${this.scope}-arrow`;
    const marker = svg("marker", {
      id: arrowId, viewBox: "0 0 8 8", refX: 7.4, refY: 4, markerWidth: 7, markerHeight: 7,
      orient: "auto-start-reverse", markerUnits: "userSpaceOnUse",
    }, svg("path", { d: "M0 0.8L8 4L0 7.2z", class: "hw-tip" }));
    const world = svg("g");
    this.svg = svg("svg", { class: "hw-svg", role: "group", tabindex: "0", "aria-label": "Graph of the compiled program" });
    this.svg.append(svg("defs", {}, marker), world);
    this.pane = html("div", "hw-pane", "", this.svg);
    this.sign = new WorkingSign(this.pane, () => this.send({ type: "stop" }));
    this.rules = document.createElement("style");
    this.note = html("div", "hw-note", { role: "status" });
    this.legend = html("div", "hw-legend");
    this.root = html("div", `hw-graph ${this.scope}`, { "data-lm-suppress-shortcuts": "true", "data-redraws": "0" });
    this.drawing = new Drawing(world, arrowId);
    this.refreshMap = onceAFrame(() => this.picture && this.overview.draw(this.picture, this.dark));
    this.camera = new Camera(this.pane, world, this.refreshMap);
    this.overview = new Overview(this.pane, this.camera);
    this.hover = new Hover(this.pane, (id) => {
      if (this.items.get(id)?.members.length) this.tell({ type: "hover", id });
    });
    this.toolbar = new Toolbar(this.camera, () => this.fit(), (message) => this.send(message));
    this.root.append(this.rules, this.toolbar.element, this.note, this.pane, this.legend);
    this.verdicts = new Verdicts(this, world);
    this.el.append(this.root);
  }

  #listen() {
    const { svg } = this;
    svg.addEventListener("pointerdown", (event) => this.#onPress(event));
    svg.addEventListener("pointermove", (event) => this.#onDrag(event));
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => this.#onRelease());
    svg.addEventListener("click", (event) => this.#onClick(event));
    svg.addEventListener("pointerover", (event) => this.#onPoint(event));
    svg.addEventListener("pointermove", (event) => {
      if (!this.rests) return;
      this.rests = false;
      this.#onPoint(event);
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
      "change:asked": () => this.mark(),
      "msg:custom": (message) => this.#onMessage(message),
    };
    for (const [event, action] of Object.entries(changes)) this.model.on(event, action);
    const stopTheme = watchTheme(() => this.applyTheme());
    let sized = false;
    const sizeWatch = new ResizeObserver(() => {
      if (!sized && this.pane.clientWidth && this.picture) {
        sized = true; // the first size that the notebook gives the pane
        this.#draw();
        this.startView();
      }
      this.refreshMap();
    });
    sizeWatch.observe(this.pane);
    this.end = () => {
      stopTheme();
      sizeWatch.disconnect();
      this.#stopWaiting();
      this.hover.hide();
      for (const [event, action] of Object.entries(changes)) this.model.off(event, action);
    };
  }

  // ---- what the kernel says

  /** Ask the kernel for something that it answers with "ready". */
  send(message) {
    this.#wait(PATIENCE_MS);
    this.say(this.picture?.note ?? "");
    this.tell(message);
  }

  /** Send a message, or with null what was set, and expect no answer. */
  tell(message) {
    if (!tellKernel(this.model, message, (text) => this.say(text, true))) this.#stopWaiting();
  }

  say(text, isProblem = false) {
    this.note.textContent = text;
    this.note.classList.toggle("hw-problem", isProblem);
  }

  #onMessage(message) {
    if (this.verdicts.receive(message)) return;
    const item = this.items.get(message.id);
    if (message.type === "hover") this.hover.receive(message.id, message.text);
    else if (message.type === "center" && item) this.bringIntoView(item);
    else if (message.type === "reveal") this.reveal(message.ids);
    else if (message.type === "note") this.say(message.text);
    else if (message.type === "problem") this.say(message.text, true);
    else if (message.type === "working") this.#wait(LAYOUT_PATIENCE_MS);
    else if (message.type === "ready") this.#onReady();
  }

  /** Show that something is on its way, and say after some time that it does not come. */
  #wait(patience) {
    this.root.dataset.busy = "true";
    this.sign.begin();
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.say(PATIENCE, true), patience);
  }

  #stopWaiting() {
    clearTimeout(this.patience);
    this.sign.end();
    delete this.root.dataset.busy;
  }

  #onReady() {
    this.#stopWaiting();
    this.anchor = null;
    if (this.picture) this.toolbar.show(this.picture); // what was chosen may have come to nothing
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
    const { picture, items } = this;
    const first = picture === null || picture.key !== next.key;
    const grows = !first && (picture.width !== next.width || picture.height !== next.height);
    const starts = grows && this.camera.isWhere(this.started);
    this.picture = next;
    this.items = new Map([...next.frames, ...next.boxes].map((item) => [item.id, item]));
    // What was clicked keeps its place on the screen, or what the picture says, else what is in the middle.
    const asked = this.anchor ?? next.hold ?? null;
    const stays = items.has(asked) && this.items.has(asked);
    const held = first ? null : stays ? asked : inTheMiddle(items, this.items, this.camera);
    const place = held === null ? null : placeOf(items.get(held), this.camera);
    if (first) this.rules.textContent = themeRules(next.styles, next.scale, `.${this.scope}`);
    this.#draw();
    // Where nothing of before is left, there is nothing to keep.
    if (first || place === null || (starts && asked === null)) this.startView();
    else this.keepInPlace(this.items.get(held), place);
    const opened = this.items.get(this.anchor);
    if (opened?.open && !items.get(this.anchor)?.open && this.camera.scale < LEAST_READ_SCALE) {
      this.camera.comeTo(opened, next);
    }
    this.refreshMap();
    this.anchor = null;
    this.toolbar.show(next);
    this.showLegend();
    this.say(next.note);
    this.root.dataset.redraws = String(Number(this.root.dataset.redraws) + 1);
  }

  #draw() {
    this.drawing.show(this.picture);
    this.verdicts.show(this.picture);
    this.mark();
  }

  fit() {
    if (this.picture) this.camera.fit(this.picture);
  }

  /** Show the whole picture if it reads then, else what it starts on. */
  startView() {
    if (!this.camera.fit(this.picture, MOST_START_SCALE, LEAST_WHOLE_SCALE)) this.#startOnOp();
    this.started = this.camera.place(); // who has not moved since then starts anew with another picture
  }

  #startOnOp() {
    this.camera.scale = 1;
    const start = this.items.get(this.model.get("selected")) ?? this.items.get(this.picture.start);
    if (start) this.camera.center(withNeighbours(start, this.picture.arrows, this.items, this.camera));
    this.camera.fill(this.picture);
    this.overview.draw(this.picture, this.dark); // it is there, or not, from here on
    if (start) this.#clearOfMap(start);
  }

  keepInPlace(item, [x, y]) {
    const now = placeOf(item, this.camera);
    this.camera.move(this.camera.x + x - now[0], this.camera.y + y - now[1]);
  }

  /** Move the picture as little as shows some items; where all do not fit, the last of them. */
  reveal(ids) {
    const found = ids.map((id) => this.items.get(id)).filter(Boolean);
    if (!found.length) return;
    const { camera } = this;
    const room = camera.size();
    const span = (items, start, size) => {
      const from = Math.min(...items.map((item) => item[start])) * camera.scale + camera[start];
      const to = Math.max(...items.map((item) => item[start] + item[size])) * camera.scale + camera[start];
      const least = REVEAL_MARGIN_PX, most = room[size] - REVEAL_MARGIN_PX;
      return { fits: to - from <= most - least, by: from < least ? least - from : Math.min(most - to, 0) };
    };
    const spans = (items) => [span(items, "x", "width"), span(items, "y", "height")];
    const all = spans(found);
    const [across, down] = all.every(({ fits }) => fits) ? all : spans(found.slice(-1));
    if (across.by || down.by) camera.move(camera.x + across.by, camera.y + down.by);
    this.#clearOfMap(found.at(-1));
  }

  /** Move the picture up, where it lies there, so that an item does not lie below the map. */
  #clearOfMap(item) {
    const map = this.overview.canvas;
    const { camera } = this;
    const right = (item.x + item.width) * camera.scale + camera.x;
    const bottom = (item.y + item.height) * camera.scale + camera.y;
    const over = bottom - (camera.size().height - map.offsetHeight - REVEAL_MARGIN_PX);
    const beside = right < camera.size().width - map.offsetWidth - REVEAL_MARGIN_PX / 2;
    if (map.offsetWidth && !beside && over > 0) camera.move(camera.x, camera.y - over);
  }

  bringIntoView(item) {
    if (!this.camera.holds(item)) this.camera.center(item);
  }

  showLegend() {
    const entries = this.picture.legend.map(({ style, label, share }) => {
      const chip = html("span", `hw-chip hw-style-${style}`);
      markStep(chip, share);
      return html("span", "hw-key", "", chip, label);
    });
    this.legend.replaceChildren(...entries, ...this.verdicts.legend(this.picture));
  }

  /** Light the selected node and its arrows. */
  mark() {
    const selected = this.model.get("selected");
    const isSelected = (id) => selected !== "" && (id === selected || id.startsWith(`${selected}@`));
    for (const [id, { element, item }] of this.drawing.drawn) {
      const lit = item.members.length > 0 && isSelected(id);
      element.classList.toggle("hw-selected", lit);
      if (item.members.length) element.setAttribute("aria-pressed", String(lit));
    }
    for (const arrow of this.drawing.arrows.children) {
      arrow.classList.toggle("hw-lit", isSelected(arrow.dataset.tail) || isSelected(arrow.dataset.head));
    }
    this.verdicts.light();
    this.verdicts.choose(isSelected);
  }

  applyTheme() {
    this.dark = isDark(this.el);
    this.root.dataset.theme = this.dark ? "dark" : "light";
    this.refreshMap();
    setTimeout(this.refreshMap, THEME_MS);
  }

  // ---- what the user does

  activate(id) {
    const item = this.items.get(id);
    if (!item || this.verdicts.pick(id)) return;
    if (item.leads_to || item.expandable) this.anchor = id;
    if (item.leads_to) this.send({ type: "focus", id: item.leads_to });
    else if (item.expandable) this.send({ type: "toggle", id, open: !item.open });
    else this.select(id);
  }

  select(id) {
    this.model.set("selected", id);
    this.model.set("asked", []);
    this.tell(null);
    this.mark();
  }

  #onPress(event) {
    if (event.button !== 0) return;
    this.hover.hide();
    this.press = { x: event.clientX, y: event.clientY, cx: this.camera.x, cy: this.camera.y, moved: false };
    // A finger stays down for some 80 ms: time to lay out what the click will ask for.
    const id = idUnder(event);
    if (this.items.get(id)?.expandable) this.tell({ type: "prepare", id });
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
    this.rests = true;
    if (this.verdicts.takesClick(event)) return;
    const id = idUnder(event);
    if (id === undefined) this.select("");
    else this.activate(id);
  }

  #onPoint(event) {
    const id = idAt(event.target);
    // What comes to lie under a resting pointer is not pointed at.
    if (id === undefined || this.press?.moved || this.rests) this.hover.hide();
    else this.hover.wait(id, event);
  }

  #onWheel(event) {
    if (!(event.ctrlKey || event.metaKey)) return; // a plain wheel scrolls the notebook
    event.preventDefault();
    const box = this.pane.getBoundingClientRect();
    this.camera.zoom(Math.exp(-event.deltaY / 300), [event.clientX - box.left, event.clientY - box.top]);
  }

  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.toolbar.element.contains(event.target)) return;
    if (this.verdicts.takesKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const id = idAt(event.target);
    const activate = id && (() => event.repeat || this.activate(id)); // a key held down acts once
    const actions = {
      Enter: activate,
      " ": activate,
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

  /**
   * What ArrowDown and ArrowUp go to: the users or producers of a node, where it has any; from an
   * opened one down into it.
   */
  neighbours(id, dy) {
    if (dy > 0 && this.items.get(id).open) {
      return [...this.items.values()].filter((item) => item.id.startsWith(`${id}/`));
    }
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
