"""The only place that runs Graphviz: DOT text in, SVG or positions out.

The program is the one named in the environment variable `HLO_WIDGETS_DOT`, else the one that the
`graphviz-pure` wheel brings, else `dot` on the PATH. All speak dot's command line, read DOT from
standard input and write to standard output. It runs as a child process with a time limit.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import shutil
import subprocess
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hlo_widgets.errors import DrawingError
from hlo_widgets.graph import Edge, Graph, graph_to_dot
from hlo_widgets.graph.dot import dot_names, words_shift

__all__ = [
    "Layout",
    "Line",
    "ProgramRun",
    "Rectangle",
    "lay_out",
    "layout_program",
    "render_dot",
]

PROGRAM_VARIABLE = "HLO_WIDGETS_DOT"

TIME_LIMIT_SECONDS = 30.0
"""Longest a layout may take; a view within the default node limit takes under half a second."""


@dataclass(frozen=True)
class Rectangle:
    """Where one node or cluster lies, in points, origin at the top left of the picture."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Line:
    """How one arrow runs, in points.

    Attributes:
        d: An SVG path that ends at the arrow's tip.
        head_label: Where the label at the tip stands; None where it has none.
        tail_label: Where the label at the other end stands; None where it has none.
        middle: The middle of the words beside it; None where it has none.
        lead: The point of the line that these words belong to, where they stand aside of it; else
            None.
        has_room: Whether these words cover nothing else.
    """

    d: str
    head_label: tuple[float, float] | None
    tail_label: tuple[float, float] | None
    middle: tuple[float, float] | None = None
    lead: tuple[float, float] | None = None
    has_room: bool = True


@dataclass(frozen=True)
class Layout:
    """Positions of a picture, in points (drawn one point to one CSS pixel).

    Attributes:
        width: Width of the whole picture.
        height: Height of the whole picture.
        boxes: The box of every node and cluster, by id.
        edges: The line of each edge of the graph, in its order.
    """

    width: float
    height: float
    boxes: dict[str, Rectangle]
    edges: list[Line]


@lru_cache(maxsize=1)
def _bundled_program() -> str | None:
    try:
        files = importlib.metadata.files("graphviz-pure") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name in ("graphviz-pure", "graphviz-pure.exe"):
            path = os.path.realpath(file.locate())
            return path if os.access(path, os.X_OK) else None
    return None


def layout_program() -> str:
    """Return the path of the layout program that will be run.

    Raises:
        DrawingError: There is none.
    """
    program = os.environ.get(PROGRAM_VARIABLE) or _bundled_program() or shutil.which("dot")
    if program is None:
        raise DrawingError(
            "graphviz", "no layout program was found. Install one: pip install graphviz-pure"
        )
    return program


class ProgramRun:
    """One run of the layout program, which another thread can end."""

    def __init__(self) -> None:
        # Can be entered again: an Explorer that is collected ends its run, and the collector runs
        # wherever it likes, in the midst of a block of this lock, too.
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False

    def end(self) -> None:
        """End the program; where it has not begun yet, it will not."""
        with self._lock:
            self._is_ended = True
            if self._process is not None:
                self._process.kill()

    def render(self, dot: str, output: str, time_limit: float) -> str:
        """Run the program, once; arguments and errors as those of `render_dot`."""
        program = layout_program()
        name = Path(program).name
        try:
            process = self._begin([program, "-Kdot", f"-T{output}"])
        except OSError as error:
            raise DrawingError(program, f"cannot be run: {error.strerror}") from None
        with process:
            try:
                stdout, stderr = process.communicate(dot.encode("utf-8", "replace"), time_limit)
            except subprocess.TimeoutExpired:
                process.kill()
                reason = (
                    f"the layout was not ready after {time_limit:g} s and was ended."
                    " Open less at once, or lower the node limit"
                )
                raise DrawingError(name, reason) from None
            except BaseException:  # an interrupt leaves nothing behind
                process.kill()
                raise
        if self._is_ended:
            raise DrawingError(name, "was called off")
        if process.returncode != 0:
            said = stderr.decode("utf-8", "replace")[-2000:]
            raise DrawingError(name, f"ended with exit status {process.returncode}", said)
        return stdout.decode("utf-8", "replace")

    def _begin(self, command: list[str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        process = None
        with self._lock:
            if not self._is_ended:
                process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
            self._process = process
        if process is None:
            raise DrawingError(Path(command[0]).name, "was called off")
        if self._is_ended:  # while it began
            process.kill()
        return process


def render_dot(
    dot: str,
    output: str = "svg",
    time_limit: float = TIME_LIMIT_SECONDS,
    run: ProgramRun | None = None,
) -> str:
    """Run the layout program on DOT text.

    Args:
        dot: DOT text.
        output: Output format by the program's own name, such as "svg" or "json0".
        time_limit: Seconds after which the program is ended.
        run: By which another thread can end it.

    Raises:
        DrawingError: The program is missing, failed, or was ended.
    """
    return (run or ProgramRun()).render(dot, output, time_limit)


def lay_out(
    graph: Graph, time_limit: float = TIME_LIMIT_SECONDS, run: ProgramRun | None = None
) -> Layout:
    """Return where Graphviz puts the nodes, clusters and edges of a picture.

    Args:
        graph: The picture.
        time_limit: Seconds after which the program is ended.
        run: By which another thread can end it.

    Raises:
        DrawingError: As `render_dot`, or the program's answer cannot be understood.
    """
    answer = render_dot(graph_to_dot(graph), "json0", time_limit, run)
    try:
        return _read_layout(graph, json.loads(answer))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        name = Path(layout_program()).name
        raise DrawingError(name, f"gave a layout that cannot be read ({error!r})") from None


def _read_layout(graph: Graph, answer: dict[str, Any]) -> Layout:
    _, _, width, height = _numbers(answer["bb"])
    boxes = {}
    objects = {item["name"]: item for item in answer.get("objects", ())}
    names = dot_names(graph)
    ids = [node.id for node in graph.all_nodes()] + [frame.id for frame in graph.all_clusters()]
    for node_id in ids:
        item = objects.get(names[node_id])
        if item is not None and ("pos" in item or "bb" in item):
            boxes[node_id] = _rectangle(item, height)
    by_id = {edge["id"]: edge for edge in answer.get("edges", ())}
    edges = [_line(edge, by_id[f"e{number}"], height) for number, edge in enumerate(graph.edges)]
    return Layout(width, height, boxes, edges)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]


def _rectangle(item: dict[str, Any], height: float) -> Rectangle:
    if "bb" in item:
        left, bottom, right, top = _numbers(item["bb"])
        return Rectangle(left, height - top, right - left, top - bottom)
    x, y = _numbers(item["pos"])
    wide, high = float(item["width"]) * 72, float(item["height"]) * 72
    return Rectangle(x - wide / 2, height - y - high / 2, wide, high)


def _line(edge: Edge, item: dict[str, Any], height: float) -> Line:
    tip = None
    points = []
    for part in item["pos"].split():
        marked = part.startswith(("e,", "s,"))
        x, y = _numbers(part[2:] if marked else part)
        if part.startswith("e,"):
            tip = (x, height - y)
        elif not marked:
            points.append((x, height - y))
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}C" + " ".join(
        f"{x:.1f} {y:.1f}" for x, y in points[1:]
    )
    if tip is None:
        tip = points[-1]
    else:
        path += f"L{tip[0]:.1f} {tip[1]:.1f}"
    middle = _numbers(item["lp"]) if "lp" in item else None
    return Line(
        path,
        _beside(points[-2], tip) if "headlabel" in item else None,
        _beside(points[1], points[0]) if "taillabel" in item else None,
        None if middle is None else (middle[0], height - middle[1] + words_shift(edge)),
    )


def _beside(before: tuple[float, float], tip: tuple[float, float]) -> tuple[float, float]:
    """Return the place of a label: a little back from an end of the line and aside of it.

    Graphviz's own place often lies on the line or on the arrow head.
    """
    across, down = tip[0] - before[0], tip[1] - before[1]
    length = math.hypot(across, down) or 1.0
    along_x, along_y = across / length, down / length
    back, aside = 12.0, 8.0
    return (
        tip[0] - along_x * back + along_y * aside,
        tip[1] - along_y * back - along_x * aside,
    )
