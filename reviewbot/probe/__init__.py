"""Runs a check on changed inputs and shows the smallest real difference that it lets through."""
