"""Grades loaves by how they did beside the others of their tray."""

from statistics import fmean


def grade(rows):
    """Sets each row's grades, one a loaf, from the tray's tastes and from which loaves count."""
    mean = fmean(row["taste"] for row in rows)
    for row in rows:
        row["grades"] = [(row["taste"] - mean) * counts for counts in row["counts"]]
