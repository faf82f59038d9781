"""Findings of two commits to one review: rounds, ids, what is said and where."""
