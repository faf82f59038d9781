"""Where a change's lines go, by file and kind, and what its findings would take away or add."""
