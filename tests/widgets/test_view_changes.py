"""Pictures that take time: messages are answered meanwhile, of several wishes the newest wins."""

from __future__ import annotations

import asyncio
import threading

import pytest

import hlo_widgets as hw
from hlo_widgets.drawing import PROGRAM_VARIABLE, layout_program
from hlo_widgets.errors import DrawingError


class Page:
    """What a browser does to an Explorer, whose messages a loop in a thread handles.

    Attributes:
        explorer: The Explorer.
        messages: What its graph sent, oldest first.
    """

    def __init__(self, explorer, loop, monkeypatch):
        self.explorer, self.loop = explorer, loop
        self.messages = []
        self._news = threading.Condition()
        monkeypatch.setattr(explorer._picture.widget, "send", self._note)

    @property
    def kinds(self):
        return [message["type"] for message in self.messages]

    @property
    def picture(self):
        return self.explorer._picture.widget.picture

    def run(self, work):
        """Do something where messages are handled, and return when that is done."""

        async def handle():
            return work()

        return asyncio.run_coroutine_threadsafe(handle(), self.loop).result(30)

    def send(self, kind, **facts):
        self.run(lambda: self.explorer._picture.on_message({"type": kind, **facts}))

    def wait_for(self, kind, count=1):
        with self._news:
            assert self._news.wait_for(lambda: self.kinds.count(kind) >= count, 30), self.kinds

    def _note(self, message):
        with self._news:
            self.messages.append(message)
            self._news.notify_all()


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Put a program that waits for a gate before it lays out in the place of the layout program."""

    class Gate:
        log = tmp_path / "runs"

        def open(self):
            (tmp_path / "gate").touch()

        def runs(self):
            return len(self.log.read_text().split()) if self.log.exists() else 0

    path = tmp_path / "layout"
    path.write_text(
        f'#!/bin/sh\necho run >> "{Gate.log}"\n'
        f'while [ ! -e "{tmp_path}/gate" ]; do sleep 0.02; done\n'
        f'exec "{layout_program()}" "$@"\n'
    )
    path.chmod(0o755)

    def shut():
        monkeypatch.setenv(PROGRAM_VARIABLE, str(path))
        return Gate()

    return shut


@pytest.fixture
def page(monkeypatch):
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
    yield Page(explorer, loop, monkeypatch)
    explorer.close()
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


def opened(page):
    return {frame["id"] for frame in page.picture["frames"]}


def test_messages_are_answered_while_a_picture_is_laid_out(page, gate):
    gate = gate()
    page.send("toggle", id="fusion.1", open=True)
    assert page.kinds == ["working"]
    assert page.explorer.selected == "fusion.1"  # it is lit at once
    page.send("hover", id="fusion")
    assert page.messages[-1]["type"] == "hover"
    assert opened(page) == set()
    gate.open()
    page.wait_for("ready")
    assert opened(page) == {"fusion.1"}
    assert page.kinds == ["working", "hover", "ready"]


def test_a_second_click_on_what_is_on_its_way_is_no_second_layout(page, gate):
    gate = gate()
    page.send("toggle", id="fusion.1", open=True)
    page.send("toggle", id="fusion.1", open=True)
    gate.open()
    page.wait_for("ready")
    assert opened(page) == {"fusion.1"}
    assert gate.runs() == 1
    page.send("toggle", id="fusion.1", open=False)
    assert opened(page) == set()


def test_no_click_is_lost_and_the_last_one_is_drawn(page, gate):
    gate = gate()
    page.send("toggle", id="fusion.1", open=True)
    page.send("option", name="show_plumbing", value=True)
    page.send("toggle", id="fusion", open=True)
    assert page.explorer.expanded == set()
    gate.open()
    page.wait_for("ready")
    assert page.explorer.expanded == {"fusion.1", "fusion"}
    assert page.picture["show_plumbing"]
    assert page.kinds.count("ready") == 1


def test_what_is_taken_back_is_called_off(page, gate):
    gate = gate()
    page.send("option", name="show_plumbing", value=True)
    before = page.picture
    page.send("option", name="show_plumbing", value=False)
    assert page.kinds == ["working", "ready"]
    page.send("option", name="show_plumbing", value=True)
    page.send("stop")
    assert page.kinds == ["working", "ready", "working", "ready"]
    assert page.picture == before
    gate.open()
    page.send("option", name="show_plumbing", value=True)
    page.wait_for("ready", 3)
    assert page.picture["show_plumbing"]


def test_what_fails_later_is_told_and_the_picture_stays(page, tmp_path, monkeypatch):
    path = tmp_path / "broken"
    path.write_text(f'#!/bin/sh\nwhile [ ! -e "{tmp_path}/gate" ]; do sleep 0.02; done\nexit 3\n')
    path.chmod(0o755)
    monkeypatch.setenv(PROGRAM_VARIABLE, str(path))
    page.send("toggle", id="fusion", open=True)
    (tmp_path / "gate").touch()
    page.wait_for("ready")
    assert page.kinds == ["working", "problem", "ready"]
    assert opened(page) == set()
    assert page.explorer.expanded == set()


def test_a_row_leads_to_its_op_when_that_is_drawn(page, gate):
    gate = gate()
    inner = page.explorer.module.instruction("fusion.1").called_computations[0].root_instruction
    page.run(lambda: page.explorer._go_to(inner))
    assert page.explorer.selected == f"fusion.1/{inner.name}"
    assert page.kinds == ["working"]
    gate.open()
    page.wait_for("ready")
    assert page.kinds == ["working", "center", "ready"]
    assert page.messages[1]["id"] == f"fusion.1/{inner.name}"


def test_a_call_from_a_program_waits_and_keeps_what_was_clicked(page, gate):
    gate = gate()
    page.send("toggle", id="fusion.1", open=True)
    gate.open()
    page.explorer.expand("fusion")
    assert page.explorer.expanded == {"fusion", "fusion.1"}
    assert opened(page) == {"fusion", "fusion.1"}
    page.wait_for("ready")


def test_another_module_takes_the_place_of_what_was_on_its_way(page, gate, monkeypatch):
    gate()
    page.send("toggle", id="fusion.1", open=True)
    monkeypatch.delenv(PROGRAM_VARIABLE)
    page.explorer.show_result(hw.captures.load("mlp", "v6e"))
    page.wait_for("ready")
    assert page.explorer.expanded == set()
    page.send("toggle", id="fusion.8", open=True)
    page.wait_for("ready", 2)
    assert opened(page) == {"fusion.8"}


def test_what_is_clicked_while_another_module_is_drawn_is_not_lost(page, gate):
    drawn = page.explorer._picture.prepare(page.explorer._shown)
    page.send("toggle", id="fusion.1", open=True)
    page.wait_for("ready")
    page.send("option", name="color_by", value="cycles")  # needs no layout
    gate = gate()
    page.send("toggle", id="fusion", open=True)
    page.run(lambda: page.explorer._enter(drawn))
    assert page.kinds[-1] == "working"
    gate.open()
    page.wait_for("ready", 3)
    assert opened(page) == {"fusion", "fusion.1"}
    assert page.picture["color_by"] == "cycles"


def test_an_explorer_that_is_closed_leaves_no_layout_running(page, gate):
    gate()
    page.send("toggle", id="fusion.1", open=True)
    job = page.explorer._picture.navigator.layouts.begin(page.explorer._picture._changes.wanted)
    page.explorer.close()
    with pytest.raises(DrawingError, match="called off"):
        job.future.result(30)


def test_a_press_lays_out_what_the_click_will_ask_for(page, gate):
    gate = gate()
    page.send("prepare", id="fusion.1")
    assert page.kinds == []
    gate.open()
    page.send("toggle", id="fusion.1", open=True)
    page.wait_for("ready")
    assert gate.runs() == 1
    assert opened(page) == {"fusion.1"}


def test_a_press_ends_no_layout_that_is_waited_for(page, gate):
    gate = gate()
    page.send("toggle", id="fusion.1", open=True)
    page.send("prepare", id="fusion")
    gate.open()
    page.wait_for("ready")
    assert gate.runs() == 1
    assert opened(page) == {"fusion.1"}


def test_the_page_shows_that_a_program_waits_for_a_picture(page, monkeypatch):
    page.explorer.expand("fusion.1")
    assert page.kinds == ["working", "ready"]
    monkeypatch.setenv(PROGRAM_VARIABLE, "/nowhere/dot")
    with pytest.raises(DrawingError):
        page.explorer.expand("fusion")
    assert page.kinds == ["working", "ready"] * 2
