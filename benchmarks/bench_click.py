"""From a click on a fusion to the new picture painted, in a real JupyterLab in Chromium.

The time runs from the browser's time stamp of the click to the second animation frame after the
picture was drawn, when it is on the screen. For each size the parts that the kernel does (build,
lay out, make the picture) are measured in this process too, so that one sees where the time goes.

Usage: python benchmarks/bench_click.py [--sizes 30 300]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from hlo_widgets.drawing import lay_out
from hlo_widgets.graph import GraphBuilder, ViewState
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.widgets.picture.picture import picture_of
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.jupyter_server import JupyterServer, start_jupyter_server
from tests.browser.notebook_page import open_notebook_page, write_notebook

TIMER = """
  window.clickTimes = [];
  const graph = document.querySelector(".hw-graph");
  let clicked = 0;
  graph.addEventListener("click", (event) => { clicked = event.timeStamp; }, true);
  new MutationObserver(() => requestAnimationFrame(() => requestAnimationFrame(() => {
    window.clickTimes.push(performance.now() - clicked);
  }))).observe(graph, { attributes: true, attributeFilter: ["data-redraws"] });
"""


def fusion_numbers(boxes: int) -> list[int]:
    """Return which ops are fusions: ten in the middle of the chain."""
    return list(range(boxes // 2 - 9, boxes // 2 + 10, 2))


def module_text(boxes: int) -> str:
    """Return a module with about `boxes` boxes: a chain with short and long skips, like a net."""
    lines = ["HloModule net", "", "%body (p: f32[8,128]) -> f32[8,128] {"]
    lines += ["  %p = f32[8,128] parameter(0)", "  %a = f32[8,128] exponential(%p)"]
    lines += [f"  %b.{n} = f32[8,128] negate(%{'a' if not n else f'b.{n - 1}'})" for n in range(7)]
    lines += [
        "  ROOT %c = f32[8,128] tanh(%b.6)",
        "}",
        "",
        "ENTRY %main (x: f32[8,128]) -> f32[8,128] {",
    ]
    lines += ["  %op.0 = f32[8,128] parameter(0)"]
    fusions = fusion_numbers(boxes)
    for n in range(1, boxes):
        root = "ROOT " if n == boxes - 1 else ""
        if n in fusions:
            lines.append(f"  %op.{n} = f32[8,128] fusion(%op.{n - 1}), kind=kLoop, calls=%body")
        elif n % 3 == 0:
            skip = max(n - (25 if n % 30 == 0 else 4), 0)
            lines.append(f"  {root}%op.{n} = f32[8,128] add(%op.{n - 1}, %op.{skip})")
        else:
            lines.append(f"  {root}%op.{n} = f32[8,128] negate(%op.{n - 1})")
    return "\n".join([*lines, "}", ""])


def find(page: Page, name: str) -> None:
    """Bring an op into the pane."""
    page.locator(".hw-bar input[type=search]").fill(name)
    page.locator(".hw-bar input[type=search]").press("Enter")
    page.locator(f'.hw-selected[data-name="{name}"]').wait_for()


def time_clicks(page: Page, names: list[str]) -> tuple[list[float], list[float]]:
    """Open and close one fusion after another; return the milliseconds of opening and closing.

    Opening is a picture that was never laid out before, closing goes back to one that was.
    """
    page.evaluate(TIMER)
    for name in names:
        find(page, name)
        for shape in ("box", "frame"):
            count = page.evaluate("window.clickTimes.length")
            page.mouse.move(2, 2)
            # In a corner: an arrow may lie over the middle.
            box = page.locator(f'.hw-{shape}[data-name="{name}"] > rect')
            box.click(position={"x": 8, "y": 8})
            page.wait_for_function("count => window.clickTimes.length > count", arg=count)
    times = page.evaluate("window.clickTimes")
    return times[2::2], times[3::2]  # the first fusion warms up


def time_kernel(text: str, name: str, rounds: int) -> dict[str, float]:
    """Return the median milliseconds of what the kernel does for one click."""
    builder = GraphBuilder(parse_hlo_module(text))
    parts: dict[str, list[float]] = {"build": [], "lay out": [], "make picture": []}
    for count in range(rounds):
        view = ViewState(expanded=frozenset([name] if count % 2 else []), node_limit=500)
        marks = [time.perf_counter()]
        graph = builder.build(view)
        marks.append(time.perf_counter())
        layout = lay_out(graph)
        marks.append(time.perf_counter())
        picture_of(graph, layout, view, "")
        marks.append(time.perf_counter())
        for part, start, end in zip(parts, marks, marks[1:], strict=False):
            parts[part].append((end - start) * 1000)
    return {part: statistics.median(times) for part, times in parts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 300])
    options = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        sys.exit("there is no Chromium on this machine: `make test` installs one")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = start_jupyter_server(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        try:
            for size in options.sizes:
                report(browser.new_page(), server, Path(folder), size)
        finally:
            browser.close()
            server.stop()


def report(page: Page, server: JupyterServer, folder: Path, size: int) -> None:
    """Print the figures of one size."""
    text = module_text(size)
    cell = f"import hlo_widgets as hw\nhw.explore({text!r}, node_limit=500)"
    write_notebook(server.folder / f"net{size}.ipynb", [cell])
    notebook = open_notebook_page(page, server.url, f"net{size}.ipynb", "lab", folder)
    notebook.run_all()
    page.locator(".hw-graph .hw-box").first.wait_for()
    names = [f"op.{number}" for number in fusion_numbers(size)]
    for what, times in zip(("open", "close"), time_clicks(page, names), strict=True):
        print(
            f"{size} boxes, {what}: click to painted picture {statistics.median(times):.0f} ms"
            f" (from {min(times):.0f} to {max(times):.0f}, {len(times)} clicks)"
        )
    kernel = time_kernel(text, names[5], 11)
    inside = ", ".join(f"{part} {ms:.0f} ms" for part, ms in kernel.items())
    print(f"{size} boxes, in the kernel, of an opening: {inside}")


if __name__ == "__main__":
    main()
