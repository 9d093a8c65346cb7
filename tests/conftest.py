"""Options of the whole suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the tests can be asked for."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew; look at the difference before committing it",
    )
