"""What tests of widgets share."""

from __future__ import annotations

from collections import Counter

import pytest
from ipywidgets.widgets import widget as widget_module


@pytest.fixture
def sent(monkeypatch):
    """Collect what an Explorer's graph sends to the browser."""

    def collect(explorer):
        messages = []
        monkeypatch.setattr(explorer._picture.widget, "send", messages.append)
        return messages

    return collect


@pytest.fixture
def left_open():
    """Count by type the widgets that were made since the test began and are not closed."""
    before = set(widget_module._instances)

    def count():
        live = dict(widget_module._instances)
        return Counter(type(live[key]).__name__ for key in live.keys() - before)

    return count
