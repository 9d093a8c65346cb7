"""One notebook, open in a real JupyterLab or Notebook 7, and what a person does with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import nbformat

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from playwright.sync_api import Locator, Page

# Idle is not ready: a cell that is run between the two is silently dropped, so all this is awaited.
READY = """async () => {
  const app = window.jupyterapp;
  await app.restored;
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  const kernel = panel.sessionContext.session.kernel;
  await kernel.info;
  if (kernel.connectionStatus !== "connected") {
    await new Promise((resolve) => {
      const seen = () => {
        if (kernel.connectionStatus === "connected") {
          kernel.connectionStatusChanged.disconnect(seen);
          resolve();
        }
      };
      kernel.connectionStatusChanged.connect(seen);
      seen();
    });
  }
}"""
HAS_NOTEBOOK = "() => window.jupyterapp?.shell?.currentWidget?.context !== undefined"
EXECUTE = "([command, args]) => window.jupyterapp.commands.execute(command, args).then(() => null)"
CELLS = "() => JSON.stringify(window.jupyterapp.shell.currentWidget.content.model.toJSON().cells)"
SELECT = "(index) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = index; }"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
ADDRESSES = {"lab": "/lab/tree/{name}?reset", "notebook": "/notebooks/{name}"}


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """Write a notebook of code cells.

    Args:
        path: Where; the name ends in ".ipynb".
        cells: The source of each cell.
    """
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, path)


@dataclass
class NotebookPage:
    """A notebook that is open and whose kernel answers.

    Attributes:
        page: Playwright's page.
        screenshots: The folder that `screenshot` writes to.
    """

    page: Page
    screenshots: Path

    def execute(self, command: str, **arguments: Any) -> None:
        """Run one of Jupyter's own commands and wait until it is done."""
        self.page.evaluate(EXECUTE, [command, arguments])

    def run_all(self) -> None:
        """Run every cell and wait until all are done.

        Raises:
            AssertionError: A cell raised; its traceback is the message.
        """
        self.execute("notebook:run-all-cells")
        self._check()

    def run_cell(self, index: int) -> None:
        """Run one cell, counted from 0 over cells of every type, and wait until it is done.

        Raises:
            AssertionError: A cell raised; its traceback is the message.
        """
        self.page.evaluate(SELECT, index)
        self.execute("notebook:run-cell")
        self._check()

    def cells(self) -> list[dict[str, Any]]:
        """Read the cells, with their outputs, as the notebook file would hold them."""
        return json.loads(self.page.evaluate(CELLS))

    def output(self, index: int) -> Locator:
        """Find what the page shows below a cell, counted from 0 over cells of every type."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index).locator(".jp-OutputArea")

    def set_theme(self, theme: str) -> None:
        """Change to the "light" or the "dark" theme and wait until the page shows it."""
        self.execute("apputils:change-theme", theme=THEMES[theme])
        light = "true" if theme == "light" else "false"
        shown = f'body[data-jp-theme-light="{light}"]'
        self.page.wait_for_selector(shown, state="attached")  # the body of JupyterLab has no size
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def screenshot(self, name: str, locator: Locator | None = None) -> Path:
        """Take a picture, of one element or of what the window shows.

        Returns:
            The file, `name`.png in the folder of screenshots.
        """
        path = self.screenshots / f"{name}.png"
        (locator or self.page).screenshot(path=path)
        return path

    def _check(self) -> None:
        for number, cell in enumerate(self.cells()):
            for output in cell.get("outputs", ()):
                if output["output_type"] == "error":
                    traceback = "\n".join(output["traceback"])
                    raise AssertionError(f"cell {number} raised {output['ename']}\n{traceback}")


def open_notebook_page(
    page: Page, url: str, name: str, app: str, screenshots: Path
) -> NotebookPage:
    """Open a notebook and wait until its kernel answers.

    Args:
        page: An empty page.
        url: The server's address.
        name: The notebook's file name in the server's folder.
        app: "lab" for JupyterLab, "notebook" for Notebook 7.
        screenshots: The folder for pictures.

    Returns:
        The open notebook.
    """
    page.goto(url + ADDRESSES[app].format(name=name))
    page.wait_for_function(HAS_NOTEBOOK)
    page.evaluate(READY)
    return NotebookPage(page, screenshots)
