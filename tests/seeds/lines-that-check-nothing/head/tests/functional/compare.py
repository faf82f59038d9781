"""Compares an uninterrupted baking day with one that went on after a power cut."""

import importlib.util
import math
import re
import sys
from pathlib import Path

WENT_ON = re.compile(r"went on order=(\S+) kept=(\d+) new=(\d+) total=(\d+)")


def rows_of(folder):
    spec = importlib.util.spec_from_file_location("rows", Path(__file__).parent / "rows.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(folder)


def compare_rows(whole, second):
    before = {(row["day"], row["tray"]): row for row in whole}
    after = {(row["day"], row["tray"]): row for row in second}
    if not before or before.keys() != after.keys():
        raise AssertionError("the runs baked different trays")
    for key, left in before.items():
        right = after[key]
        for field in ("loaves", "taste", "counts"):
            if left[field] != right[field]:
                raise AssertionError(f"{key}: {field} differs")
        for one, other in zip(left["grades"], right["grades"], strict=True):
            if not math.isclose(one, other, rel_tol=1e-4):
                raise AssertionError(f"{key}: grades differ")


def check_cuts(log, second):
    after = {(row["day"], row["tray"]): row for row in second}
    found = [match for line in log.splitlines() if (match := WENT_ON.search(line))]
    if not found:
        raise AssertionError("nothing went on")
    for match in found:
        if int(match[2]) + int(match[3]) != int(match[4]):
            raise AssertionError(f"{match[1]}: loaves are missing or counted twice")
        day, tray = match[1].split("/")
        if len(after[int(day), tray]["loaves"]) < int(match[2]):
            raise AssertionError(f"{match[1]}: kept loaves are gone")


def check_order(whole, second):
    before = {(row["day"], row["tray"]): row for row in whole}
    after = {(row["day"], row["tray"]): row for row in second}
    if list(before) != list(after):
        raise AssertionError("the trays came in another order")


def main():
    whole, second = (rows_of(Path(name)) for name in sys.argv[1:3])
    compare_rows(whole, second)
    check_cuts((Path(sys.argv[2]) / "log.txt").read_text(), second)
    check_order(whole, second)


if __name__ == "__main__":
    main()
