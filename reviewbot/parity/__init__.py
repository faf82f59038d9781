"""The rows that two runs trained on, compared token for token."""
