"""What is sent to the browser arrives as it was meant."""

from __future__ import annotations

import json

import pytest

from hlo_widgets.graph.words import bytes_in_words, counted
from hlo_widgets.widgets.plain import plain


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("plain é 計", "plain é 計"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("\x1b[31m", "\\x1b[31m"),
        (2**53, 2**53),
        (2**63 - 1, "9223372036854775807"),
        (-(2**60), "-1152921504606846976"),
        (True, True),
        (None, None),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        ({"\ud800": [(1, "\udfff")]}, {"\\ud800": [[1, "\\udfff"]]}),
    ],
)
def test_plain_data(value, sent):
    assert plain(value) == sent
    json.dumps(plain(value), allow_nan=False).encode()


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1146880, "1.094 MiB"),
        (2**40, "1 TiB"),
        (3 * 2**69, "1536 EiB"),
        (2**16609, "about 2^16609 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_sizes_in_words(count, words):
    assert bytes_in_words(count) == words


def test_a_number_has_its_noun():
    assert [counted(n, "cycle") for n in (0, 1, 5604)] == ["0 cycles", "1 cycle", "5,604 cycles"]
