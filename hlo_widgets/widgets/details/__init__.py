"""The panel beside the graph: the selected op, the answer about two ops, or the program."""
