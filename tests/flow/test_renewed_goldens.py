from __future__ import annotations

from textwrap import dedent, indent

import pytest

from reviewbot.flow.renewed_goldens import renewed, renews_by_default
from reviewbot.source.units import Unit, file_of

_MENU = """
from pathlib import Path

GOLDEN = Path("golden.txt")


def test_menu(render, tmp_path, folder):
"""


def unit_of(body: str) -> Unit:
    text = _MENU + indent(dedent(body), "    ")
    unit = file_of("tests/test_menu.py", text.encode()).unit("test_menu")
    assert unit is not None
    return unit


@pytest.mark.parametrize(
    ("read", "written", "found"),
    [
        ("GOLDEN.read_text()", "GOLDEN.write_text(menu)", 1),
        ("open(GOLDEN).read()", "GOLDEN.write_text(menu)", 1),
        ("open('golden/a').read()", "Path('golden/a').write_text(menu)", 1),
        ("json.loads(GOLDEN.read_text())", "json.dump(menu, open(GOLDEN, 'w'))", 1),
        ("np.load(folder / 'golden')", "np.save(folder / 'golden', menu)", 1),
        ("load_golden('menu')", "save_golden('menu', menu)", 1),
        ("load_golden('menu')", "save_golden('failed', menu)", 0),
        ("GOLDEN.read_text()", "(tmp_path / GOLDEN.name).write_text(menu)", 0),
        ("GOLDEN.read_text()", "Path(str(GOLDEN) + '.new').write_text(menu)", 0),
        ("GOLDEN.read_text()", "open('actual_' + GOLDEN.name, 'w').write(menu)", 0),
        ("GOLDEN.read_text()", "GOLDEN.with_suffix('.actual').write_text(menu)", 0),
        ("(tmp_path / 'golden').read_text()", "(tmp_path / 'golden').write_text(menu)", 0),
    ],
)
def test_only_the_very_path_counts(read, written, found):
    unit = unit_of(f"""
        menu = render()
        golden = {read}
        if menu != golden:
            {written}
        """)
    assert len(list(renewed(unit))) == found


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("pass", "assert menu == GOLDEN.read_text()", 1),
        ("print(golden)", "print(golden)", 1),
        ("changed = menu != golden", "assert not changed", 0),
        ("pass", "assert menu == golden", 0),
        ("pass", "golden = 1\n        assert golden", 1),
        ("if not asked_to_update: return", "pass", 0),
        ("if not folder: return", "pass", 1),
    ],
)
def test_a_verdict_elsewhere_fails_all_the_same(before, after, found):
    unit = unit_of(f"""
        menu = render()
        golden = GOLDEN.read_text()
        {before}
        if menu != golden:
            GOLDEN.write_text(menu)
        {after}
        """)
    assert len(list(renewed(unit))) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ('"--update-golden", action="store_true"', 1),
        ('"--auto-update-golden", action="store_true"', 1),
        ('"--update-golden", dest="update_golden", action="store_true"', 1),
        ('"--update-golden", dest="ask_first", action="store_true"', 0),
        ('"--update-golden", action="store_false"', 0),
        ('"--dont-update-golden", dest="update", action="store_false"', 0),
        ('"--without-regenerate-golden", dest="x", action="store_true"', 0),
        ('"--fail-on-update-golden", action="store_true"', 0),
    ],
)
def test_what_an_option_turns_on(given, found):
    unit = unit_of(f"render.addoption({given}, default=True)")
    assert len(list(renews_by_default(unit))) == found


def test_each_of_many_is_found():
    each = """
        menu{0} = render({0})
        golden{0} = Path("golden{0}").read_text()
        if menu{0} != golden{0}:
            Path("golden{0}").write_text(menu{0})
        """
    unit = unit_of("".join(map(each.format, range(400))))
    assert len(list(renewed(unit))) == 400
