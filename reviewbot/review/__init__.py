"""Findings to a review: what the change touches, ids, places for comments, proposed diffs."""
