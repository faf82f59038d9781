"""Unit tests of the comparison."""

from tests.knit_parity import check_line


def test_a_line_names_its_call():
    assert check_line("went on call=a7 kept=3 knitted=2 total=9") == "a7"
