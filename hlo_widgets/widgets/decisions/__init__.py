"""What the compiler decided about fusion, on the arrows of the graph and as lists below it."""
