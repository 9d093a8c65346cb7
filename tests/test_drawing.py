"""Running the layout program: positions, and every way in which it can fail."""

from __future__ import annotations

import sys
import threading

import pytest

from hlo_widgets.drawing import PROGRAM_VARIABLE, ProgramRun, lay_out, layout_program, render_dot
from hlo_widgets.errors import DrawingError
from hlo_widgets.graph import ViewState, build_graph
from hlo_widgets.hlo import parse_hlo_module
from tests.graph.modules import LOOP


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Put a shell script in the place of the layout program."""

    def use(script):
        path = tmp_path / "layout"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv(PROGRAM_VARIABLE, str(path))

    return use


def test_every_box_and_arrow_has_a_place_inside_the_picture():
    graph = build_graph(parse_hlo_module(LOOP), ViewState(expanded=frozenset({"loop"})))
    layout = lay_out(graph)
    items = [*graph.all_nodes(), *graph.all_clusters()]
    assert set(layout.boxes) == {item.id for item in items}
    assert len(layout.edges) == len(graph.edges)
    for box in layout.boxes.values():
        assert 0 <= box.x <= box.x + box.width <= layout.width + 1
        assert 0 <= box.y <= box.y + box.height <= layout.height + 1


def test_an_arrow_ends_at_the_box_it_points_to():
    graph = build_graph(parse_hlo_module(LOOP))
    layout = lay_out(graph)
    for edge, line in zip(graph.edges, layout.edges, strict=True):
        x, y = map(float, line.d.rpartition("L")[2].split())
        head = layout.boxes[edge.head]
        assert head.x - 2 <= x <= head.x + head.width + 2
        assert abs(y - head.y) <= 2


def test_inner_boxes_lie_in_their_frame():
    graph = build_graph(parse_hlo_module(LOOP), ViewState(expanded=frozenset({"loop"})))
    layout = lay_out(graph)
    frame = layout.boxes["loop"]
    for node_id, box in layout.boxes.items():
        if node_id.startswith("loop/"):
            assert frame.x <= box.x
            assert box.x + box.width <= frame.x + frame.width
            assert frame.y <= box.y


def test_the_bundled_program_is_used_without_any_setting(monkeypatch):
    monkeypatch.delenv(PROGRAM_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")
    assert "graphviz-pure" in layout_program()


def test_a_program_that_fails_shows_what_it_wrote(program):
    program("echo 'no memory left' >&2; exit 3")
    with pytest.raises(DrawingError, match=r"exit status 3\nno memory left"):
        render_dot("digraph {}")


def test_a_program_that_hangs_is_ended(program):
    program("exec sleep 60")
    with pytest.raises(DrawingError, match=r"was not ready after 0\.2 s"):
        render_dot("digraph {}", time_limit=0.2)


def test_another_thread_can_end_a_program(program, tmp_path):
    program(f"touch '{tmp_path}/begun'; exec sleep 600")
    run = ProgramRun()

    def end():
        while not (tmp_path / "begun").exists():
            pass
        run.end()

    threading.Thread(target=end, daemon=True).start()
    with pytest.raises(DrawingError, match="was called off"):
        render_dot("digraph {}", run=run)


def test_a_program_that_is_called_off_before_does_not_begin(program, tmp_path):
    program(f"touch '{tmp_path}/begun'")
    run = ProgramRun()
    run.end()
    with pytest.raises(DrawingError, match="was called off"):
        render_dot("digraph {}", run=run)
    assert not (tmp_path / "begun").exists()


def test_a_program_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv(PROGRAM_VARIABLE, "/nowhere/dot")
    with pytest.raises(DrawingError, match=r"/nowhere/dot: cannot be run: No such file"):
        render_dot("digraph {}")


@pytest.mark.parametrize("answer", ["{}", "not json", '{"bb": "0,0,x,1"}', "[]"])
def test_an_answer_that_is_no_layout_is_an_error(program, answer):
    program(f"cat > /dev/null; echo '{answer}'")
    with pytest.raises(DrawingError, match="gave a layout that cannot be read"):
        lay_out(build_graph(parse_hlo_module(LOOP)))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in programs are shell scripts")
def test_broken_dot_is_an_error_of_the_program():
    with pytest.raises(DrawingError, match="syntax error"):
        render_dot("digraph {")
