from __future__ import annotations

import pytest

from hlo_widgets.compiler import settings, shut_down


@pytest.fixture
def changed_settings():
    """The settings, put back after the test, with new workers before and after."""
    before = dict(vars(settings))
    shut_down()
    yield settings
    shut_down()
    vars(settings).update(before)


@pytest.fixture(scope="session", autouse=True)
def end_workers():
    yield
    shut_down()
