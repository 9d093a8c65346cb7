"""DOT text: golden files, and text from a program that never leaves its label."""

from __future__ import annotations

from pathlib import Path

import pytest

from hlo_widgets.drawing import lay_out, render_dot
from hlo_widgets.graph import ViewState, build_graph, graph_to_dot
from hlo_widgets.hlo import parse_hlo_module

HERE = Path(__file__).parent
CAPTURES = HERE.parents[1] / "captures"

HOSTILE = (
    "<script>alert(1)</script>",
    'a"];n9[label="b',
    "back\\slash\\",
    "\\N\\G\\l",
    "per%cent",
    "&amp;<b>",
    "new\nline",
    "x" * 10_000,
)


@pytest.mark.parametrize(
    ("golden", "expanded"), [("row_softmax.v6e", ()), ("row_softmax.v6e.fusion.1", ("fusion.1",))]
)
def test_golden_dot(golden, expanded, request):
    module = parse_hlo_module((CAPTURES / "row_softmax.v6e.hlo.txt").read_text())
    dot = graph_to_dot(build_graph(module, ViewState(expanded=frozenset(expanded))))
    path = HERE / "golden" / f"{golden}.dot"
    if request.config.getoption("--update-golden"):
        path.write_text(dot)
    assert dot == path.read_text()


def module_named(name):
    """Return a module whose op_name and custom-call target are `name`."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    text = f"""HloModule m

ENTRY %main (p: f32[4]) -> f32[4] {{
  %p = f32[4] parameter(0), metadata={{op_name="{escaped}"}}
  ROOT %n = f32[4] custom-call(%p), custom_call_target="{escaped}"
}}
"""
    return parse_hlo_module(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_in_its_label(name):
    module = module_named(name)
    module.instruction("n").name = name
    graph = build_graph(module)
    svg = render_dot(graph_to_dot(graph))
    assert "<script" not in svg
    assert "<b>" not in svg
    assert svg.count('class="node"') == 2
    assert len(lay_out(graph).boxes) == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_themes_draw(theme):
    svg = render_dot(graph_to_dot(build_graph(module_named("plain")), theme))
    assert svg.startswith("<?xml")
