"""The module's text, by the window."""
