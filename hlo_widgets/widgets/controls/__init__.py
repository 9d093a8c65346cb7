"""Live controls: a call that can be changed, compiled again, and its earlier variants."""
