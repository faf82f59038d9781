"""Which fields of LibCST's nodes hold nodes, against what `typing` makes of their annotations."""

import dataclasses
import inspect
import typing

import libcst as cst
import pytest

from reviewbot.source.tree import child_fields

NODES = [
    kind
    for kind in vars(cst).values()
    if inspect.isclass(kind) and issubclass(kind, cst.CSTNode) and dataclasses.is_dataclass(kind)
]


def named(annotation) -> set[type]:
    inner = {found for argument in typing.get_args(annotation) for found in named(argument)}
    return inner | ({annotation} if isinstance(annotation, type) else set())


@pytest.mark.parametrize("kind", NODES, ids=lambda kind: kind.__name__)
def test_every_field_that_may_hold_an_expression_a_statement_or_a_name_is_walked(kind):
    hints = typing.get_type_hints(kind)
    kinds = (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement, cst.BaseSuite, cst.Arg)
    holding = {
        field.name
        for field in dataclasses.fields(kind)
        if any(issubclass(held, kinds) for held in named(hints[field.name]))
    }
    assert holding <= set(child_fields(kind))


def test_white_space_and_punctuation_is_not():
    assert child_fields(cst.Call) == ("func", "args")
    assert child_fields(cst.If) == ("test", "body", "orelse")
    assert child_fields(cst.Name) == ()
