"""Where legs run: on this machine one after the other, or as tasks of a cluster."""
