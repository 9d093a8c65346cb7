"""The controls above an Explorer, and what a person does with them."""

from __future__ import annotations

from tests.browser.explorer_page import ExplorerPage
from tests.browser.notebook_page import SELECT


class ControlsPage(ExplorerPage):
    """The Explorer below the first cell, made from a function."""

    def __init__(self, notebook):
        super().__init__(notebook)
        self.controls = self.page.locator(".hw-controls")
        self.phase = self.controls.locator(".hw-phase")
        self.failure = self.controls.locator(".hw-failure")

    def argument(self, label):
        return self.controls.locator(f'.hw-argument[data-label="{label}"]')

    def slider(self, label, dimension):
        return self.argument(label).locator("input[type=range]").nth(dimension)

    def write(self, label, text):
        field = self.argument(label).locator(".hw-entry")
        field.fill(text)
        field.press("Enter")

    def button(self, name):
        return self.controls.get_by_role("button", name=name, exact=True)

    def open_panel(self, name):
        tab = self.controls.locator(".hw-tab", has_text=name)
        if tab.get_attribute("aria-expanded") != "true":
            tab.click()

    def wait_state(self, state):
        self.page.locator(f'.hw-controls[data-state="{state}"]').wait_for()

    def wait_box(self, text):
        """Wait for a box of the graph that says a text."""
        self.graph.locator(".hw-box", has_text=text).first.wait_for()

    def is_stale(self):
        return self.page.locator(".hw-stale").count() == 1

    def python(self, expression):
        """Evaluate in the kernel, by a new last cell, wherever the user has clicked meanwhile."""
        self.page.evaluate(SELECT, len(self.notebook.cells()) - 1)
        return super().python(expression)

    def history(self):
        """Return number, target and changes of each row, the newest first."""
        self.open_panel("History")
        rows = self.controls.locator(".hw-runs tbody tr")
        return rows.evaluate_all(
            "all => all.map(r => [...r.cells].slice(0, 3).map(c => c.innerText))"
        )
