"""White space and comments between tokens change nothing, wherever XLA's parser lets them stand."""

from __future__ import annotations

import random
import re

import pytest

from hlo_widgets.hlo import parse_hlo_module
from tests.hlo.agreement import differences
from tests.hlo.grammar_cases import CASES

TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|/\*.*?\*/|//[^\n]*|[\w.$-]+|\s+|.", re.DOTALL)
GAPS = (" ", "\n", "\t", "  ", "/*c*/", " // c = { (\n", "\n\n", " /* x = f32[] y(z) */ ")
# The tables and what follows on their lines are no tokens to this reader.
TABLES = re.compile(r"^(?:FileNames|FunctionNames|FileLocations|StackFrames)$", re.MULTILINE)
ROUNDS = 6


def with_gaps(text: str, dice: random.Random) -> str:
    """Put gaps at some of the places between two tokens."""
    often = dice.choice([0.02, 0.1, 0.4])
    return "".join(
        token + (dice.choice(GAPS) if dice.random() < often else "")
        for token in TOKEN.findall(text)
    )


@pytest.mark.parametrize("name", [n for n in CASES if TABLES.search(CASES[n]) is None])
def test_gaps_change_nothing(oracle, name: str) -> None:
    dice = random.Random(name)  # noqa: S311 (to be repeated, not to be secret)
    for _ in range(ROUNDS):
        text = with_gaps(CASES[name], dice)
        answer = oracle.structure(text)
        if isinstance(answer, dict):
            assert differences(parse_hlo_module(text), answer) == [], text


def test_gaps_are_put_where_xla_takes_them(oracle) -> None:
    dice = random.Random(3)  # noqa: S311
    read = sum(isinstance(oracle.structure(with_gaps(text, dice)), dict) for text in CASES.values())
    assert read > len(CASES) // 4
