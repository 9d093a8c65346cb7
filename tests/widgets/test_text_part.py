"""The text of a module without a browser: lines, ops on them, and what messages do."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

import hlo_widgets as hw
from hlo_widgets.hlo import parse_hlo_module
from hlo_widgets.widgets.text.lines import LONGEST_SHOWN, TextLines
from hlo_widgets.widgets.text.part import MOST_LINES, TextPart

WRAPPED = """HloModule wrapped

%body (q: f32[4]) -> f32[4] {
  %q = f32[4] parameter(0)
  ROOT %n = f32[4] negate(%q)
}

ENTRY %main (p: f32[4]) -> f32[4] {
  %p = f32[4] parameter(0), metadata={op_name="x"}
  %s = f32[4] custom-call(%p), custom_call_target="one\\ntwo",
    backend_config={"a": {
      "b": "metadata={op_name=\\"x\\"}"}}
  ROOT %f = f32[4] fusion(%s), kind=kLoop, calls=%body
}
"""


def shown(module):
    return SimpleNamespace(module=module)


def test_every_line_and_every_op_has_its_place():
    result = hw.captures.load("row_softmax", "v6e")
    lines = TextLines(result.module)
    source = result.hlo_text.splitlines()
    assert lines.count == len(source)
    assert [line.text for line in lines.window(1, 10_000, fold=False)] == source
    for instruction in result.module.instructions():
        first, last = lines.lines_of(instruction)
        assert first == last
        assert f"{instruction.name} =" in source[first - 1]
        assert lines.op_at(first) is instruction
    ops = {line.text for line in lines.window(1, 10_000, fold=False) if line.is_op}
    assert all(re.match(r"\s+(ROOT )?%", text) for text in ops)
    assert lines.op_at(1) is lines.op_at(0) is lines.op_at(10_000) is None


def test_an_op_of_several_lines_has_all_of_them():
    module = parse_hlo_module(WRAPPED)
    lines = TextLines(module)
    call = module.instruction("s")
    assert lines.lines_of(call) == (10, 12)
    assert [lines.op_at(n) for n in (10, 11, 12)] == [call] * 3
    assert lines.op_at(13) is module.instruction("f")
    assert [lines.op_at(n) for n in (3, 7, 8, 14)] == [None] * 4


def test_metadata_and_configurations_are_folded_until_somebody_asks():
    lines = TextLines(parse_hlo_module(WRAPPED))
    (plain,) = lines.window(9, 9, fold=False)
    assert plain.text == '  %p = f32[4] parameter(0), metadata={op_name="x"}'
    (folded,) = lines.window(9, 9, fold=True)
    assert folded.text == "  %p = f32[4] parameter(0), metadata={...}"
    softmax = TextLines(hw.captures.load("row_softmax", "v6e").module)
    texts = [line.text for line in softmax.window(1, softmax.count, fold=True)]
    assert not any("window_config" in text or "op_name=" in text for text in texts)
    assert any(text.endswith("metadata={...}, backend_config={...}") for text in texts)


def test_a_line_without_end_is_cut_and_says_how_long_it_is():
    name = "x" * (LONGEST_SHOWN * 2)
    module = parse_hlo_module(WRAPPED.replace("one\\ntwo", name))
    text = TextLines(module).window(10, 10, fold=True)[0].text
    assert len(text) < LONGEST_SHOWN + 40
    assert re.search(r"\.\.\. \(8,\d+ characters\)$", text)


def test_what_cannot_be_shown_is_an_escape():
    module = parse_hlo_module(WRAPPED.replace("one\\ntwo", "a\u202eb\x07c"))
    assert "a\\u202eb\\x07c" in TextLines(module).window(10, 10, fold=True)[0].text


@pytest.fixture
def part():
    went = []
    part = TextPart(went.append)
    part.went = went
    part.show(shown(parse_hlo_module(WRAPPED)))
    part.sent = []
    part.widget.send = part.sent.append
    return part


def test_the_first_lines_come_with_the_document_and_others_when_asked_for(part):
    document = part.widget.document
    assert (document["count"], document["first"], document["fold"]) == (14, 1, True)
    assert [text for text, _ in document["lines"]][7].startswith("ENTRY %main")
    assert document["start"] == 8
    part._on_message({"type": "lines", "key": document["key"], "line": 3, "last": 4})
    (answer,) = part.sent
    assert answer["lines"] == [
        ["%body (q: f32[4]) -> f32[4] {", False],
        ["  %q = f32[4] parameter(0)", True],
    ]
    assert (answer["first"], answer["key"]) == (3, document["key"])


def test_a_large_program_is_sent_by_the_window():
    body = "\n".join(f"  %n.{n} = f32[4] negate(%p)" for n in range(50_000))
    head = "HloModule large\n\nENTRY %main (p: f32[4]) -> f32[4] {\n  %p = f32[4] parameter(0)"
    text = f"{head}\n{body}\n}}\n"
    part = TextPart(lambda op: None)
    part.show(shown(parse_hlo_module(text)))
    assert part.widget.document["count"] == 50_005
    assert len(part.widget.document["lines"]) == 100
    sent = []
    part.widget.send = sent.append
    part._on_message(
        {"type": "lines", "key": part.widget.document["key"], "line": 1, "last": 50_000}
    )
    assert len(sent[0]["lines"]) == MOST_LINES


def test_a_line_selects_its_op_and_an_op_marks_its_lines(part):
    part._on_message({"type": "go", "line": 11})
    assert [op.name for op in part.went] == ["s"]
    part._on_message({"type": "go", "line": 7})
    assert len(part.went) == 1
    part.select(part.went[0])
    assert part.widget.marked == {"ranges": [[10, 12]], "at": 10}
    part.select(None)
    assert part.widget.marked == {}


def test_of_a_pair_the_lines_of_both_are_marked():
    module = hw.captures.load("row_softmax", "v6e").module
    part = TextPart(lambda op: None)
    part.show(shown(module))
    start, done = module.instruction("copy-start"), module.instruction("copy-done")
    part.select(done)
    assert part.widget.marked == {
        "ranges": [[start.line, start.line], [done.line, done.line]],
        "at": done.line,
    }
    part.select(start)
    assert part.widget.marked["at"] == start.line
    assert len(part.widget.marked["ranges"]) == 2


def test_folding_sends_the_lines_around_what_is_read(part):
    before = part.widget.document
    part._on_message({"type": "fold", "fold": False, "line": 9})
    after = part.widget.document
    assert after["key"] != before["key"]
    assert after["text"] == before["text"]
    assert ['  %p = f32[4] parameter(0), metadata={op_name="x"}', True] in after["lines"]


def test_another_module_is_another_text(part):
    before = part.widget.document
    part.select(part._lines.op_at(9))
    part.show(shown(hw.captures.load("row_softmax", "v6e").module))
    assert part.widget.document["text"] != before["text"]
    assert part.widget.marked == {}


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "lines"},
        {"type": "lines", "key": -1, "line": 1, "last": 5},
        {"type": "fold", "fold": "yes"},
        {"type": "go"},
        {"type": "go", "line": "2"},
        {"type": "go", "line": -5},
        {"type": "go", "line": 10**30},
    ],
)
def test_an_odd_message_changes_nothing(part, message):
    before = part.widget.document
    part._on_message(message)
    assert part.widget.document is before or part.widget.document == before
    assert part.sent == part.went == []


def test_the_explorer_shows_the_text_in_a_tab_and_follows_it():
    explorer = hw.explore(hw.captures.load("row_softmax", "v6e"))
    text = next(part for part in explorer._tabs.parts if isinstance(part, TextPart))
    # A tab that nobody has opened costs nothing.
    assert text.widget.document == {}
    explorer.select("fusion.1")
    explorer._tabs.open(text)
    line = explorer.module.instruction("fusion.1").line
    assert text.widget.marked["at"] == line
    other = explorer.module.instruction("fusion")
    text._on_message({"type": "go", "line": other.line})
    assert explorer.selected == "fusion"
    assert text.widget.marked["at"] == other.line
