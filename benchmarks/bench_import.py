"""How long `import hlo_widgets` takes in a fresh interpreter: medians without its own start."""

from __future__ import annotations

import statistics
import subprocess
import sys

ROUNDS = 15
TIMED = "import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
STATEMENTS = {
    "import hlo_widgets": 0.15,
    "import hlo_widgets.hlo": None,
    "import hlo_widgets.compiler": None,
    "import hlo_widgets as hw; hw.explore, hw.cost_table": None,
}


def seconds(statement: str) -> float:
    """Time one statement in a new interpreter, without the interpreter's own start."""
    command = [sys.executable, "-c", TIMED.format(statement=statement)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print one line for each statement."""
    for statement, aim in STATEMENTS.items():
        seconds(statement)  # the first writes the .pyc files
        median = statistics.median(seconds(statement) for _ in range(ROUNDS))
        note = f"  aim: under {aim} s, ratio {median / aim:.2f}" if aim else ""
        print(f"{statement:55} {median * 1000:7.1f} ms{note}")


if __name__ == "__main__":
    main()
