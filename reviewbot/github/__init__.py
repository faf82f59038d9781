"""GitHub: the events that start a run."""
