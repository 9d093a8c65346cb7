"""The Explorer on a page, and what a person does with it."""

from __future__ import annotations


class ExplorerPage:
    """The Explorer below the first cell, and what a person does with it."""

    def __init__(self, notebook):
        self.notebook = notebook
        self.page = notebook.page
        self.graph = self.page.locator(".hw-graph")
        self.graph.locator(".hw-box").first.wait_for()
        self.page.locator("table.dataTable tbody tr").first.wait_for()

    def box(self, name):
        return self.graph.locator(f'.hw-box[data-name="{name}"]')

    def frame(self, name):
        return self.graph.locator(f'.hw-frame[data-name="{name}"]')

    def redraws(self):
        return int(self.graph.get_attribute("data-redraws"))

    def row(self, name):
        return self.page.locator(
            "table.dataTable tbody tr", has=self.page.get_by_role("cell", name=name, exact=True)
        )

    def wait_redrawn(self, before):
        self.page.wait_for_function(
            "before => Number(document.querySelector('.hw-graph').dataset.redraws) > before",
            arg=before,
        )

    def open(self, name):
        before = self.redraws()
        self.box(name).click()
        self.wait_redrawn(before)

    def box_named(self, prefix):
        """Return the name of the one box whose name begins so."""
        found = self.graph.locator(f'.hw-box[data-name^="{prefix}"]')
        assert found.count() == 1
        return found.get_attribute("data-name")

    def detail(self):
        return self.page.locator(".hw-detail")

    def python(self, expression):
        """Evaluate in the kernel, by a new cell."""
        cells = len(self.notebook.cells())
        self.notebook.execute("notebook:insert-cell-below")
        self.notebook.execute("notebook:replace-selection", text=expression)
        self.notebook.execute("notebook:run-cell")
        output = self.notebook.cells()[cells]["outputs"]
        return "".join(output[0]["data"]["text/plain"]) if output else ""
