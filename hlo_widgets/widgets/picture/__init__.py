"""The graph: which view of a module is shown, as the data that the front end draws."""
