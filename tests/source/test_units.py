"""Units cover the whole file, once, and know where they stand."""

from __future__ import annotations

import ast

import libcst as cst

from reviewbot.source.units import File, walked

BLOCKS = """\
import torch

if torch.cuda.is_available():

    def test_gpu():
        assert one()

    class TestGpu:
        if True:

            def test_inside(self):
                assert two()

try:
    import apex
except ImportError:

    @decorated
    async def test_without():
        def nested():
            assert three()

        assert four()

else:
    assert apex
assert five()
"""


def asserts(file: File) -> dict[str, list[str]]:
    return {
        unit.name: [unit.text(node.test) for node in unit.find(cst.Assert)]
        for unit in file.units
        if unit.find(cst.Assert)
    }


def test_a_definition_in_a_block_is_a_unit_and_belongs_to_nothing_else():
    assert asserts(File("a.py", BLOCKS.encode())) == {
        "": ["apex", "five()"],
        "test_gpu": ["one()"],
        "TestGpu.test_inside": ["two()"],
        "test_without": ["three()", "four()"],
    }


def test_a_unit_of_a_block_knows_its_lines():
    file = File("a.py", BLOCKS.encode())
    spans = {unit.name: [unit.span(node).line for node in unit.find(cst.Assert)] for unit in file.units}
    assert spans == {
        "": [26, 27],
        "test_gpu": [6],
        "TestGpu": [],
        "TestGpu.test_inside": [12],
        "test_without": [21, 23],
    }


def test_reading_the_whole_file_in_between_moves_nothing():
    file = File("a.py", BLOCKS.encode())
    unit = file.unit("test_without")
    assert unit is not None
    nodes = unit.find(cst.Assert)
    assert file.units[0].find(cst.Assert)
    assert [unit.span(node).line for node in nodes] == [21, 23]


def test_the_whole_file_and_the_units_alone_agree():
    file = File("a.py", BLOCKS.encode())
    for unit in file.units[1:]:
        found = file.locate(unit)
        assert found.name.value == unit.name.rpartition(".")[2]
        both = (cst.Module([]).code_for_node(node).split() for node in (found, unit.node))
        assert next(both) == next(both)


def test_the_walk_goes_as_that_of_ast_and_leaves_contexts_out():
    tree = ast.parse("""
@mark(1)
def sail(boat, *rest: int, wind=None, **more) -> None:
    global harbour
    rows = {"a": [x.y for x in boat if x], **more}
    try:
        with wind as (a, b):
            rows["a"][0] += -b or f"{a!r:>{b}}"
    except (KeyError, OSError) as error:
        raise error from None
    match boat:
        case {"name": name, **left} | Boat(name, mast=left):
            del name
        case None:
            pass
""")
    every = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert [*walked(tree)] == every
    assert len(every) == 75
