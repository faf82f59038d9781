"""One file a command; each imports its own stage only when it is called."""
