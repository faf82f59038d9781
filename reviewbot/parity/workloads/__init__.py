"""What a run does: which legs there are, and which are compared."""
