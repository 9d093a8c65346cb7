"""The cost table."""
