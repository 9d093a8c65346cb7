"""Look for text that breaks the reader: `make fuzz`; `python -m tests.fuzz SEED` shows one again.

Captures are damaged at random and read. Either a module comes out, or `HloParseError`; anything
else, and any text that takes unreasonably long, is a finding: it is written to a file, and the exit
status is 1.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import parse_hlo_module

ROOT = Path(__file__).parents[1]
MAX_CHARACTERS = 60_000  # a longer capture is cut, so that one round stays short
MAX_SECONDS = 5.0  # a hundred times what the largest text takes
PIECES = [
    "{",
    "}",
    "(",
    ")",
    '"',
    "\\",
    ",",
    "=",
    "%",
    "/*",
    "*/",
    "->",
    "\n",
    " ",
    "\0",
    "é",
    "[",
    "]",
]


def load_texts() -> list[str]:
    """Read every capture of the checkout."""
    paths = sorted(
        path for path in (ROOT / "captures").rglob("*") if path.suffix in {".hlo", ".txt"}
    )
    return [path.read_text(errors="replace")[:MAX_CHARACTERS] for path in paths]


def damage(text: str, dice: random.Random) -> str:
    """Delete, repeat, move or insert a few pieces of a text."""
    for _ in range(dice.randint(1, 6)):
        start = dice.randrange(len(text) + 1)
        end = min(len(text), start + int(dice.paretovariate(0.7)))
        other = dice.randrange(len(text) + 1)
        text = dice.choice(
            [
                text[:start] + text[end:],
                text[:end] + text[start:],
                text[:other] + text[start:end] + text[other:],
                text[:start] + dice.choice(PIECES) * dice.choice([1, 1, 2, 50]) + text[start:],
                text[:start],
            ]
        )
    return text


def read(text: str) -> None:
    """Read a text and everything in it that is read late."""
    for instruction in parse_hlo_module(text).instructions():
        for name in ("shape", "metadata", "attributes", "backend_config"):
            getattr(instruction, name)


def find_problem(text: str) -> str | None:
    """Try one text.

    Returns:
        What is wrong with the reader; None where nothing is.
    """
    start = time.perf_counter()
    try:
        read(text)
    except HloParseError:
        pass
    except Exception:
        return traceback.format_exc()
    seconds = time.perf_counter() - start
    return f"it took {seconds:.1f} s" if seconds > MAX_SECONDS else None


def make_case(seed: int, texts: list[str]) -> str:
    """Make the text of a seed; the same for the same captures."""
    dice = random.Random(seed)
    return damage(dice.choice(texts), dice)


def search(texts: list[str], seconds: float) -> int:
    """Try new cases until the time is over or one is a finding.

    Returns:
        The exit status.
    """
    deadline = time.monotonic() + seconds
    seed = first = random.SystemRandom().randrange(2**32)
    while time.monotonic() < deadline:
        text = make_case(seed, texts)
        problem = find_problem(text)
        if problem:
            found = Path(tempfile.gettempdir()) / f"hlo_widgets_fuzz_{seed}.txt"
            found.write_text(text)
            print(f"{problem}\nseed {seed}; the text is in {found}")
            return 1
        seed += 1
    print(f"{seed - first} damaged texts, none broke the reader")
    return 0


def main() -> None:
    """Search for FUZZ_SECONDS, or try the seed that is given."""
    texts = load_texts()
    if len(sys.argv) > 1:
        sys.exit(find_problem(make_case(int(sys.argv[1]), texts)))
    sys.exit(search(texts, float(os.environ.get("FUZZ_SECONDS", "60"))))


if __name__ == "__main__":
    main()
