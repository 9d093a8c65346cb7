"""The Python that the README shows runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hlo_widgets as hw

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def names():
    if not hw.target("v6e").availability.is_available:
        pytest.skip("no TPU compiler is installed")
    names = {}
    exec(block("row_softmax"), names)  # noqa: S102 - what is tested
    return names


def block(word):
    (found,) = [text for text in BLOCKS if f"def {word}(" in text or f"hw.{word}(" in text]
    return found


def without_counts(text):
    """Leave out how often a compiler looked at a pair, which differs from run to run."""
    return re.sub(r"\d+(?=[,}]| records)", "N", text)


def test_the_ten_lines_print_the_table_below_them(names, capsys):
    exec(block("row_softmax"), names)  # noqa: S102
    printed = capsys.readouterr().out.rstrip()
    if names["result"].versions["libtpu"] == "0.0.52":  # another may fuse in another way
        assert f"```\n{printed}\n```" in README
    assert printed.count("\n") == 3


def test_the_reasons(names, capsys):
    explained, _ = block("why_not_fused").split("log = hw.read_decisions")
    exec(explained, dict(names))  # noqa: S102
    printed = capsys.readouterr().out
    answer, _, compared = printed.partition("jit_row_softmax on v6e; ")
    assert answer.startswith("x.1 and fusion.1: blocked.")
    assert compared.startswith("unfused: without tpu_fusion")
    if names["result"].versions["libtpu"] == "0.0.52":  # another may say it in other words
        assert without_counts(f"```\n{answer}```") in without_counts(README)


def test_the_sharded_function(names):
    exec(block("product"), names)  # noqa: S102
