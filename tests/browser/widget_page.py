"""A widget's own page: its ES module, a stub model and an element, without any Jupyter."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import hlo_widgets

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

WIDGETS = Path(hlo_widgets.__file__).parent / "widgets"
# Nobody listens there: every request is answered by `WidgetPage` from the folders it knows.
ORIGIN = "http://localhost"

HTML = """<!doctype html>
<meta charset="utf-8">
<title>widget</title>
<body style="margin: 8px; font: 13px sans-serif"></body>"""

# The model as a widget sees it: get, set, save_changes, send, and on/off. What the kernel would see
# is in `saved` and `sent`; `receive` and `assign` are the kernel's side.
MODEL = """class StubModel {
  constructor(state) {
    this.state = state; this.listeners = []; this.changed = {}; this.saved = []; this.sent = [];
  }
  get(key) { return this.state[key]; }
  set(key, value) {
    if (this.state[key] === value) return;
    this.state[key] = value; this.changed[key] = value;
    this.emit(`change:${key}`, this, value); this.emit("change", this);
  }
  save_changes() { this.saved.push(structuredClone(this.changed)); this.changed = {}; }
  send(content, callbacks, buffers) { this.sent.push(structuredClone(content)); }
  on(events, listener) {
    for (const event of events.split(" ")) this.listeners.push([event, listener]);
  }
  off(event, listener) {
    this.listeners = this.listeners.filter(([name, known]) =>
      (event && name !== event) || (listener && known !== listener));
  }
  emit(event, ...args) {
    for (const [name, listener] of [...this.listeners]) if (name === event) listener(...args);
  }
  assign(key, value) { this.set(key, value); this.changed = {}; }
  receive(content, buffers) { this.emit("msg:custom", content, buffers); }
}
window.StubModel = StubModel;"""

# Module and initialize as anywidget treats them: a default export may be a function that makes the
# widget.
MOUNT = """async ([url, state, styles]) => {
  if (styles) {
    const link = Object.assign(document.createElement("link"), {rel: "stylesheet", href: styles});
    await new Promise((resolve, reject) => {
      link.onload = resolve; link.onerror = reject; document.head.append(link);
    });
  }
  const module = await import(url);
  let widget = module.default ?? module;
  if (typeof widget === "function") widget = await widget();
  window.model = new window.StubModel(state);
  await widget.initialize?.({model: window.model, experimental: {}});
  const el = document.createElement("div");
  el.id = "widget";
  document.body.append(el);
  window.unmount = await widget.render({model: window.model, el, experimental: {}});
}"""


@dataclass
class WidgetPage:
    """A page that a widget can be put on.

    Attributes:
        page: Playwright's page.
        folders: What the page can load: the first part of a path, and the folder it stands for.
    """

    page: Page
    folders: dict[str, Path] = field(default_factory=lambda: {"widgets": WIDGETS})

    def __post_init__(self) -> None:
        self.page.route(f"{ORIGIN}/**", self._answer)
        self.page.goto(f"{ORIGIN}/")
        self.page.evaluate(f"() => {{ {MODEL} }}")

    def mount(self, module: str, state: dict[str, Any], styles: str | None = None) -> None:
        """Load a widget, give it a model, and wait until `render` has returned.

        Args:
            module: The path of the ES module, such as "widgets/explorer.js".
            state: The values of its traits, as JSON.
            styles: The path of its style sheet.
        """
        style_url = f"{ORIGIN}/{styles}" if styles else None
        self.page.evaluate(MOUNT, [f"{ORIGIN}/{module}", state, style_url])

    def unmount(self) -> None:
        """Call what `render` returned, as Jupyter does when the output goes away."""
        self.page.evaluate("async () => { await window.unmount?.(); }")

    def assign(self, key: str, value: Any) -> None:
        """Set a trait as the kernel would."""
        self.page.evaluate("([key, value]) => window.model.assign(key, value)", [key, value])

    def receive(self, content: Any) -> None:
        """Hand the widget a message as the kernel would send it."""
        self.page.evaluate("(content) => window.model.receive(content, [])", content)

    def value(self, key: str) -> Any:
        """Read a trait as the widget has it."""
        return self.page.evaluate("(key) => window.model.get(key)", key)

    def saved(self) -> list[dict[str, Any]]:
        """List what the widget has sent to the kernel with `save_changes`, oldest first."""
        return self.page.evaluate("() => window.model.saved")

    def sent(self) -> list[Any]:
        """List the messages that the widget has sent to the kernel, oldest first."""
        return self.page.evaluate("() => window.model.sent")

    def set_theme(self, theme: str) -> None:
        """Mark the page as JupyterLab does in its "light" or "dark" theme."""
        light = "true" if theme == "light" else "false"
        self.page.evaluate("(light) => { document.body.dataset.jpThemeLight = light; }", light)
        self.page.emulate_media(color_scheme=theme)

    def _answer(self, route: Route) -> None:
        path = urlsplit(route.request.url).path.lstrip("/")
        if not path:
            route.fulfill(body=HTML, content_type="text/html")
            return
        first, _, rest = path.partition("/")
        file = self.folders.get(first, Path("/nowhere")) / rest
        if not file.is_file():
            route.fulfill(status=404)
            return
        kind = (
            "text/javascript" if file.suffix in {".js", ".mjs"} else mimetypes.guess_type(file)[0]
        )
        route.fulfill(body=file.read_bytes(), content_type=kind or "application/octet-stream")
