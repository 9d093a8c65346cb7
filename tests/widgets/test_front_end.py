"""What the front ends share is written once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hlo_widgets.widgets

FRONT = Path(hlo_widgets.widgets.__file__).parent / "front"


@pytest.mark.parametrize(
    "what",
    [r"toLocaleString\(", r"\bcatch\b", r"model\.(send|save_changes)\(", r"createElement(NS)?\("],
)
def test_one_file_has_the_numbers_the_elements_and_the_way_to_the_kernel(what):
    # A style sheet and a canvas to measure text on are no elements of ours.
    own = re.compile(what + r"(?!\"(style|canvas)\")")
    files = {file.name for file in FRONT.glob("*.js") if own.search(file.read_text("utf-8"))}
    assert files == {"page.js"}


def test_no_two_files_of_a_module_give_one_name_to_two_things():
    names = re.compile(r"^(?:const|let|function|class) (\w+)", re.MULTILINE)
    for file in FRONT.parent.rglob("*.py"):
        for parts in re.findall(r"module_text\(([^)]*)\)", file.read_text("utf-8")):
            texts = [
                (FRONT / f"{part}.js").read_text("utf-8") for part in re.findall(r'"(\w+)"', parts)
            ]
            found = [name for text in texts for name in names.findall(text)]
            assert len(found) == len(set(found)), file
