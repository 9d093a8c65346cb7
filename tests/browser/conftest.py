"""The browser, the Jupyter server and the pages that the browser tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed: see CONTRIBUTING.md")

from playwright.sync_api import Browser, BrowserContext, Page, Request, WebSocket, sync_playwright

from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.jupyter_server import JupyterServer, start_jupyter_server
from tests.browser.notebook_page import NotebookPage, open_notebook_page, write_notebook
from tests.browser.widget_page import ORIGIN, WidgetPage

HERE = Path(__file__).parent
LOCAL_SCHEMES = ("data:", "blob:", "about:")
WINDOW = {"width": 1280, "height": 900}
TIMEOUT_MS = 30_000  # arbitrary; a busy machine of two cores needs up to ten seconds for one step


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Keep a picture of the page of a test that failed, before its fixtures close it."""
    report = yield
    page = getattr(item, "funcargs", {}).get("page")
    if report.when == "call" and report.failed and page is not None and not page.is_closed():
        name = "".join(letter if letter.isalnum() else "-" for letter in item.name)
        page.screenshot(path=item.funcargs["screenshots"] / f"failed-{name}.png")
    return report


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the Chromium that is driven."""
    path = find_chromium()
    if path is None and os.environ.get("HLO_WIDGETS_REQUIRE_BROWSER"):
        pytest.fail("there is no Chromium, and HLO_WIDGETS_REQUIRE_BROWSER is set")
    if path is None:
        pytest.skip("there is no Chromium on this machine: `make test` installs one")
    return path


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """One running browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def jupyter_lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    """One running Jupyter server, for JupyterLab and Notebook 7."""
    server = start_jupyter_server(tmp_path_factory.mktemp("jupyter"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """The folder for pictures: HLO_WIDGETS_SCREENSHOTS, else tests/browser/screenshots."""
    folder = Path(os.environ.get("HLO_WIDGETS_SCREENSHOTS") or HERE / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Traffic:
    """What the pages of a context asked for, and what went wrong in them.

    Attributes:
        foreign: Every address that is neither of the server nor data of the page itself.
        errors: Every uncaught exception of the page's own code.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.origins: set[str] = set()
        self.foreign: list[str] = []
        self.errors: list[str] = []
        context.on("request", self._on_request)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("page", lambda page: page.on("websocket", self._on_socket))

    def allow(self, origin: str) -> None:
        """Count a server as the page's own: its http and its web-socket addresses."""
        self.origins |= {f"{origin}/", f"{origin}/".replace("http", "ws", 1)}

    def _on_request(self, request: Request) -> None:
        self._note(request.url)

    def _on_socket(self, socket: WebSocket) -> None:
        self._note(socket.url)

    def _note(self, url: str) -> None:
        if not url.startswith((*LOCAL_SCHEMES, *self.origins)):
            self.foreign.append(url)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser window with nothing remembered from the test before."""
    context = browser.new_context(viewport=WINDOW, service_workers="block")
    context.set_default_timeout(TIMEOUT_MS)
    yield context
    context.close()


@pytest.fixture
def traffic(context: BrowserContext) -> Iterator[Traffic]:
    """The traffic of this test's pages; one that asks another machine for anything fails it."""
    traffic = Traffic(context)
    yield traffic
    assert traffic.foreign == [], "the page works only with a network"
    assert traffic.errors == [], "an exception in the page was not caught"


@pytest.fixture
def page(context: BrowserContext, traffic: Traffic, screenshots: Path) -> Page:
    """An empty page, whose traffic is watched. Where the test fails, a picture of it is kept."""
    return context.new_page()


@pytest.fixture
def open_notebook(
    page: Page, traffic: Traffic, jupyter_lab: JupyterServer, screenshots: Path
) -> Iterator[Callable[..., NotebookPage]]:
    """A function that opens a notebook: a file, which is copied, or the sources of its cells."""
    traffic.allow(jupyter_lab.url)
    numbers = count(1)

    def open_notebook(notebook: Path | list[str], app: str = "lab") -> NotebookPage:
        name = f"notebook{next(numbers)}.ipynb"
        if isinstance(notebook, Path):
            shutil.copy(notebook, jupyter_lab.folder / name)
        else:
            write_notebook(jupyter_lab.folder / name, notebook)
        opened = open_notebook_page(page, jupyter_lab.url, name, app, screenshots)
        # Notebook 7.6 throws while it starts, before anything of ours is on the page.
        traffic.errors.clear()
        return opened

    yield open_notebook
    # The page goes first: one that sees its kernel die asks the person what to do.
    page.goto("about:blank")
    jupyter_lab.end_kernels()


@pytest.fixture
def widget_page(page: Page, traffic: Traffic) -> WidgetPage:
    """A page for one widget, without Jupyter."""
    traffic.allow(ORIGIN)
    return WidgetPage(page)
