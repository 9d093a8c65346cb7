"""Break HLO text in many ways and read it: only `HloParseError` may come out, and soon.

`python -m tests.hlo.fuzz [COUNT] [SEED]` runs COUNT mutations (100,000 by default) of the files it
finds and of small texts with every kind of syntax; the first finding is written to a file, and the
exit status is 1.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from hlo_widgets.errors import HloParseError
from hlo_widgets.hlo import parse_hlo_module, parse_hlo_modules
from tests.hlo.grammar_cases import CASES

REPOSITORY = Path(__file__).resolve().parents[2]
# Characters of a file that are used: one round stays short.
PIECE = 20_000
# Seconds for one text, a hundred times what the largest takes on a slow machine.
LIMIT_SECONDS = 4.0
TOKENS = [
    *"{}()[]\"'\\,=%/*#$<>-:.;\n\t \0\r",
    *(
        "/*",
        "*/",
        "//",
        "->",
        "ROOT ",
        "ENTRY ",
        "HloModule ",
        "calls=",
        "to_apply={",
        "é",
        "\u2028",
        "...",
        "'",
    ),
    *(
        " = ",
        "f32[",
        "constant(",
        "{...}",
        "metadata={",
        "```\n",
        "a.cc:1] ",
        "mesh[",
        "%p#0",
        "b(",
        "FileNames\n",
    ),
]


def texts() -> list[str]:
    """Everything that is mutated."""
    found = list(CASES.values())
    for folder in (REPOSITORY / "captures", REPOSITORY.parent / "shared" / "cases"):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
            if path.suffix in {".txt", ".hlo"}:
                whole = path.read_text(encoding="utf-8", errors="replace")
                found += [whole[:PIECE], whole[len(whole) // 2 :][:PIECE]]
    return found


def mutate(text: str, others: list[str], dice: random.Random) -> str:
    """Damage a text: flips, cuts, splices, insertions, nesting, long tokens."""
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        at = dice.randrange(len(text) + 1)
        end = min(len(text), at + int(dice.paretovariate(0.6)))
        kind = dice.randrange(9)
        if kind == 0 and text:
            flipped = chr(ord(text[at - 1]) ^ (1 << dice.randrange(7)))
            text = text[: max(at - 1, 0)] + flipped + text[at:]
        elif kind == 1:
            text = text[:at]
        elif kind == 2:
            text = text[:at] + text[end:]
        elif kind == 3:
            text = text[:end] + text[at:]
        elif kind == 4:
            other = dice.choice(others)
            cut = dice.randrange(len(other) + 1)
            text = text[:at] + other[cut : cut + 500] + text[at:]
        elif kind == 5:
            token = dice.choice(TOKENS) * dice.choice([1, 1, 1, 2, 100, 10_000])
            text = text[:at] + token + text[at:]
        elif kind == 6:
            depth = dice.choice([10, 10_000])
            opening, closing = dice.choice(
                [("(", ")"), ("{", "}"), ("[", "]"), ("add(", ")"), ("{a=", "}")]
            )
            text = text[:at] + opening * depth + text[at:end] + closing * depth + text[end:]
        elif kind == 7:
            text = text[:at] + "".join(dice.choice(TOKENS) for _ in range(20)) + text[at:]
        else:
            lines = text.split("\n")
            dice.shuffle(lines)
            text = "\n".join(lines)
    return text[: 4 * PIECE]


def read_everything(text: str) -> None:
    """Read a text and all that is read late."""
    module = parse_hlo_module(text)
    if any(len(warning) > 1000 for warning in module.warnings):
        raise AssertionError("a warning of more than a thousand characters")
    module.attributes, module.source_frames(1)
    for item in module.instructions():
        for name in ("attributes", "metadata", "backend_config", "called_by_attribute", "literal"):
            getattr(item, name)
        item.async_wrapped_instruction, item.named_computations, item.parent.named_by  # noqa: B018
        item.parameter_number, item.control_predecessors, item.text  # noqa: B018
        try:
            item.shape.byte_size  # noqa: B018
        except HloParseError:
            continue
    with contextlib.suppress(HloParseError):
        module.to_string()
    parse_hlo_modules(text)


def problem(text: str) -> str | None:
    """What is wrong with how a text is read; None where nothing is."""
    start = time.process_time()
    try:
        read_everything(text)
    except HloParseError as error:
        if len(str(error)) > 1000:
            return f"an error message of {len(str(error))} characters"
    except Exception:  # noqa: BLE001 (any other exception is what is looked for)
        return traceback.format_exc()
    seconds = time.process_time() - start
    return f"it took {seconds:.1f} seconds" if seconds > LIMIT_SECONDS else None


def run(count: int, seed: int) -> tuple[str, str] | None:
    """Try `count` mutations; return the first finding, as the text and what is wrong with it."""
    known = texts()
    dice = random.Random(seed)  # noqa: S311 (to be repeated, not to be secret)
    for _ in range(count):
        text = mutate(dice.choice(known), known, dice)
        wrong = problem(text)
        if wrong is not None:
            return text, wrong
    return None


def main() -> int:
    """Run as a program."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    sys.stdout.write(f"{count} mutations, seed {seed}\n")
    found = run(count, seed)
    if found is None:
        sys.stdout.write("none broke the reader\n")
        return 0
    place = Path(tempfile.gettempdir()) / f"hlo_reader_fuzz_{seed}.txt"
    place.write_text(found[0], encoding="utf-8", errors="surrogatepass")
    sys.stdout.write(f"{found[1]}\nthe text is in {place}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
