"""Options of the whole suite."""

from __future__ import annotations

import os

import pytest

# Compiles are real, and the cache of whoever runs the suite is left alone. Tests of the cache name
# a folder of their own.
os.environ["HLO_WIDGETS_CACHE"] = "off"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the tests can be asked for."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew; look at the difference before committing it",
    )
