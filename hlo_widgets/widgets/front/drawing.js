// The drawing: frames, boxes and arrows at the places that the kernel laid out.

const MOST_FAR_SIZE = 30;
const LONGEST_FAR_LINE = 12;
const measuring = document.createElement("canvas").getContext("2d");

/** The font that texts in a layer are drawn in. */
function fontOfText(layer) {
  const probe = layer.appendChild(svg("text"));
  const family = getComputedStyle(probe).fontFamily;
  probe.remove();
  return family;
}

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
    this.frames = world.appendChild(svg("g", { class: "hw-frames" }));
    this.arrows = world.appendChild(svg("g", { class: "hw-arrows" }));
    this.boxes = world.appendChild(svg("g", { class: "hw-boxes" }));
    this.drawn = new Map();
    this.font = "";
  }

  /** Draw a picture; once more when it comes to the page, as only then the font is known. @returns {void} */
  show(picture) {
    this.font ||= fontOfText(this.boxes);
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
    const look = JSON.stringify([this.font, item.width, item.height, item.lines, item.style, item.root, item.share]);
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
      const group = old[number] ?? this.arrows.appendChild(newArrow());
      const [title, line, label, element] = group.children;
      group.setAttribute("class", `hw-arrow hw-${arrow.kind}`);
      group.dataset.tail = arrow.tail;
      group.dataset.head = arrow.head;
      title.textContent = arrowTitle(arrow);
      line.setAttribute("d", arrow.path);
      line.setAttribute("marker-end", `url(#${this.arrowId})`);
      write(label, arrow.label, arrow.at);
      write(element, arrow.element && `[${arrow.element}]`, arrow.from);
    });
    for (const extra of old.slice(arrows.length)) extra.remove();
  }
}

function newArrow() {
  return svg("g", {}, svg("title"), svg("path"), svg("text"), svg("text"));
}

function write(text, content, place) {
  text.textContent = place ? content : "";
  if (!place) return;
  text.setAttribute("x", place[0]);
  text.setAttribute("y", place[1] + 3);
}

function arrowTitle({ tail, head, kind, element, via }) {
  if (kind === "apart") return `${tail} and ${head}: no data goes from one to the other`;
  const what = element ? `element ${element} of ${tail}` : tail;
  const through = via.length ? `, through ${via.join(", ")}` : "";
  return kind === "control" ? `${tail} runs before ${head}` : `${what} is read by ${head}${through}`;
}

/** Give an element its colour on the scale of five steps, where it has a place on it. */
function markStep(element, share) {
  if (share !== null) element.dataset.step = String(Math.min(Math.floor(share * 5), 4));
}

function colored(item, className) {
  const acts = item.members.length > 0 || item.leads_to !== null;
  const group = svg("g", {
    class: `${className} hw-style-${item.style}`,
    role: acts ? "button" : "group",
    "aria-label": [...item.lines, ...(item.root ? ["ROOT"] : []), item.meaning].join(", "),
  });
  if (acts) group.setAttribute("tabindex", "0");
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
  group.append(svg("rect", { width: item.width, height: item.height, rx: radius }));
  const lines = item.root ? [...item.lines, "ROOT"] : item.lines;
  const pitch = item.height / (lines.length + 0.55);
  lines.forEach((line, number) => {
    const weight = number === 0 && lines.length > 1 ? 600 : 400;
    const y = pitch * (number + 0.775) + 4.2;
    const text = svg("text", { x: item.width / 2, y: y.toFixed(1), "font-weight": weight });
    text.textContent = line;
    if (item.root && number === lines.length - 1) text.setAttribute("class", "hw-root");
    else fit(text, line, `${weight} 12px ${font}`, item.width - 6);
    group.append(text);
  });
  group.append(farName(item, font));
  return group;
}

/** The name alone, as large as its box holds it: what is read of a box from far away. */
function farName(item, font) {
  const lines = halves(item.lines[0]);
  measuring.font = `600 12px ${font}`;
  const width = Math.max(...lines.map((line) => measuring.measureText(line).width), 1);
  const size = Math.min((12 * (item.width - 12)) / width, (item.height - 6) / lines.length / 1.15, MOST_FAR_SIZE);
  const text = svg("text", { class: "hw-far-name" });
  text.style.fontSize = `${size.toFixed(1)}px`;
  lines.forEach((line, number) => {
    const y = item.height / 2 + size * (0.35 + 1.1 * (number - (lines.length - 1) / 2));
    text.append(svg("tspan", { x: item.width / 2, y: y.toFixed(1) }, line));
  });
  return text;
}

/** Break a long name after the sign nearest to its middle that parts words. */
function halves(name) {
  const signs = [...name.matchAll(/[_.-](?=.)/g)].map(({ index }) => index + 1);
  if (name.length <= LONGEST_FAR_LINE || !signs.length) return [name];
  const middle = name.length / 2;
  const at = signs.reduce((one, other) => (Math.abs(other - middle) < Math.abs(one - middle) ? other : one));
  return [name.slice(0, at), name.slice(at)];
}

function drawFrame(item, font) {
  const group = colored(item, "hw-frame");
  group.append(svg("rect", { width: item.width, height: item.height, rx: 9 }));
  const sign = item.expandable ? "\u2212 " : "";
  item.lines.forEach((line, number) => {
    const text = svg("text", { x: item.width / 2, y: 17 + number * 14.5, "font-weight": number ? 400 : 600 });
    text.textContent = number ? line : sign + line;
    fit(text, text.textContent, `${number ? 400 : 600} 12px ${font}`, item.width - 8);
    group.append(text);
  });
  return group;
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
