// What stands around the picture: the box that follows the pointer, and the bar above.

const HOVER_DELAY_MS = 180;
const WORKING_DELAY_MS = 120; // what is there sooner needs no sign
const ZOOM_STEP = 1.25;

/** The box that shows the whole instruction under the pointer, asked from the kernel once. */
class Hover {
  constructor(pane, ask) {
    this.pane = pane;
    this.ask = ask;
    this.texts = new Map();
    this.box = html("div", "hw-hover", { role: "tooltip", hidden: true });
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

/** The sign that another picture is on its way. */
class WorkingSign {
  constructor(pane, stop) {
    const button = html("button", "", { type: "button", title: "Keep this picture", textContent: "Stop" });
    button.addEventListener("click", stop);
    this.text = html("span", "", { role: "status" });
    this.box = html("div", "hw-working", { hidden: true }, this.text, button);
    pane.append(this.box);
  }

  begin() {
    this.timer ??= setTimeout(() => {
      this.text.textContent = "Drawing\u2026";
      this.box.hidden = false;
    }, WORKING_DELAY_MS);
  }

  end() {
    clearTimeout(this.timer);
    this.timer = null;
    this.box.hidden = true;
    this.text.textContent = "";
  }
}

/** The buttons and choices above the picture. */
class Toolbar {
  constructor(camera, fit, send) {
    this.element = html("div", "hw-bar");
    this.#button("Fit", "Show the whole graph (key: 0)", fit);
    this.#button("\u2212", "Zoom out (key: -)", () => camera.zoom(1 / ZOOM_STEP));
    this.#button("+", "Zoom in (key: +)", () => camera.zoom(ZOOM_STEP));
    this.colors = html("select", "", { title: "What the colours mean", "aria-label": "Colour by" });
    for (const by of ["kind", "cycles", "memory"]) this.colors.append(new Option(`Colour by ${by}`, by));
    this.colors.addEventListener("change", () => send({ type: "option", name: "color_by", value: this.colors.value }));
    this.plumbing = html("input", "", { type: "checkbox" });
    this.plumbing.addEventListener("change", () =>
      send({ type: "option", name: "show_plumbing", value: this.plumbing.checked }),
    );
    this.decisions = html("input", "", { type: "checkbox" });
    this.decisions.addEventListener("change", () =>
      send({ type: "option", name: "show_decisions", value: this.decisions.checked }),
    );
    const why = "Draw on each arrow why the ops at its ends stayed apart; a click on it explains";
    const title = "Draw get-tuple-element, tuple, bitcast and scalar constants as boxes";
    const find = html("input", "", { type: "search", placeholder: "Find an op\u2026", "aria-label": "Find an op by a part of its name, opcode or op_name; Enter goes to the next" });
    find.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && find.value.trim()) send({ type: "find", text: find.value.trim() });
      event.stopPropagation();
    });
    this.element.append(this.colors, html("label", "", { title }, this.plumbing, " plumbing"), html("label", "", { title: why }, this.decisions, " decisions"), find);
  }

  show(picture) {
    this.colors.value = picture.color_by;
    this.plumbing.checked = picture.show_plumbing;
    this.decisions.checked = picture.decisions;
  }

  #button(text, title, action) {
    const button = html("button", "", { type: "button", title, textContent: text });
    button.addEventListener("click", action);
    this.element.append(button);
  }
}
