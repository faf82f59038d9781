"""An `__eq__` that looks at most fields of its class and leaves one out.

## Why
Two rows that differ in the field are equal, and so every `assert left == right` over them passes: a field
that was added to the class later is compared nowhere, and a run that lost it equals its baseline.

## Instead
Let the class compare itself: `@dataclass` with no `__eq__`, or name every field. Where a field must not
count, say so where it is declared: `field(compare=False)`, with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.classes import Known, class_of_name
from reviewbot.flow.fielded import may_mean_fields
from reviewbot.flow.patterns import pattern
from reviewbot.flow.suspects import may_fail
from reviewbot.flow.syntax import dotted, last_name, walk
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, Finding, Rule, Step, Unit, step
from reviewbot.model import Certainty

_SIDES = 2
# What an object stands for, or how it was made, rather than what it holds.
_LABEL = pattern(
    r"(?i)^_?(node|label|name|title|owner|parent|source|origin|context|validate\w*|check\w*|strict\w*)$"
)
_SAYS_EQUAL = pattern(r"(?i)(^|_)(same|equals?|identical|compare|match(es)?|equivalent|close)(_|$)")
_NAMES = frozenset({"__eq__", "equals", "is_equal", "same_as"})
# Names of fields that differ between equal things, or tell things apart by themselves.
_VOLATILE = pattern(
    r"(?i)^_|(^|_)(cache|cached|time|timestamp|date|created|updated|modified|elapsed|duration|logger|log|lock"
    r"|parent|owner|session|client|conn|connection|hash|doc|docs|comment|description|line|lineno|col|pos"
    r"|position|location|loc|span|source|callback|hook|debug|verbose|validate|context|meta|metadata|pid|host)(_|$)"
)
_IDENTITY = pattern(r"(?i)^_?(id|uid|uuid|guid|key|name|path|url|pk|slug|code|value)$|_(id|key|name)$")
_WHOLE = frozenset({"asdict", "astuple", "vars", "fields", "getattr", "model_dump", "attrgetter", "__eq__"})
_SHOWN = 3

_ROW = """
class Row:
    def __init__(self, tokens, reward, loss_mask=None):
        self.tokens = tokens
        self.reward = reward
        self.loss_mask = loss_mask
"""


class EqualityOmitsField(Rule):
    kinds = ("method", "class", "function")
    bad = (
        Example(
            _ROW
            + """
    def __eq__(self, other):
        return self.tokens == other.tokens and self.reward == other.reward  # <- here
""",
            path="robot/row.py",
        ),
        Example(
            """
            from dataclasses import dataclass

            @dataclass(eq=False)
            class Row:
                tokens: list
                reward: float
                loss_mask: list

                def __eq__(self, other):
                    if not isinstance(other, Row):
                        return NotImplemented
                    return (self.tokens, self.reward) == (other.tokens, other.reward)  # <- here
            """,
            path="robot/row.py",
        ),
        Example(
            """
            from dataclasses import dataclass, field

            @dataclass
            class Row:
                tokens: list
                loss_mask: list = field(default_factory=list, compare=False)  # <- here
            """,
            path="robot/row.py",
        ),
        Example(
            """
            from clinic.visit import Visit
            def assert_same(left: Visit, right: Visit):  # <- here
                assert left.patient == right.patient
                assert left.ward == right.ward
                assert left.notes == right.notes
            """,
            path="tests/compare_visits.py",
            files={
                "clinic/visit.py": """
from dataclasses import dataclass
@dataclass
class Visit:
    patient: str
    ward: str
    notes: str
    dose: float
""",
            },
        ),
    )
    good = (
        # Kept and compared under its name with an underscore.
        Example(
            """
            class Berth:
                def __init__(self, pier, number, depth, base):
                    self.pier = pier
                    self.number = number
                    self.depth = depth
                    self._base = base

                def __eq__(self, other):
                    if self.pier != other.pier or self.number != other.number:
                        return False
                    return self.depth == other.depth and self._base == other._base
            """,
            path="harbour/berth.py",
        ),
        Example("""
            from dataclasses import dataclass

            @dataclass
            class Snapshot:
                step: int
                time: float
                scores: list

                def __eq__(self, other):
                    return self.step == other.step and self.time == other.time

                def __hash__(self):
                    return hash((self.step, self.time))
        """),
        Example(
            _ROW
            + """
    def __eq__(self, other):
        return (
            self.tokens == other.tokens
            and self.reward == other.reward
            and self.loss_mask == other.loss_mask
        )
""",
            path="robot/row.py",
        ),
        Example(
            _ROW
            + """
    def __eq__(self, other):
        return isinstance(other, Row) and vars(self) == vars(other)
""",
            path="robot/row.py",
        ),
        Example(
            """
            class Worker:
                def __init__(self, id, name, load, host):
                    self.id = id
                    self.name = name
                    self.load = load
                    self.host = host

                def __eq__(self, other):
                    return self.id == other.id
            """,
            path="robot/worker.py",
        ),
        Example(
            """
            from dataclasses import dataclass, field

            @dataclass
            class Row:
                tokens: list
                created_at: float = field(default=0.0, compare=False)
                _cache: dict = field(default_factory=dict, compare=False)
            """,
            path="robot/row.py",
        ),
        Example(
            _ROW
            + """
    def key(self):
        return (self.tokens, self.reward, self.loss_mask)

    def __eq__(self, other):
        return self.key() == other.key()
""",
            path="robot/row.py",
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if unit.kind == "class":
            return "compare" in unit.facts.names and unit.calls("field", "attrib", "ib", "Field")
        if unit.kind == "function":
            alike = _SAYS_EQUAL.search(unit.name) is not None and _annotated_alike(unit) is not None
            return alike and may_fail(unit)
        return unit.name.rpartition(".")[2] in _NAMES and unit.has(ast.Return)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        settled = {*repo.config.derived_fields, *repo.config.volatile_fields}
        if unit.kind == "class":
            yield from self._declared(unit, settled)
        elif unit.kind == "function":
            owner = _annotated_alike(unit)
            node = unit.node
            if owner is None or not self.suspect(unit) or not isinstance(node, cst.FunctionDef):
                return
            known = class_of_name(owner, unit.file.path, unit.file.imports, repo.index)
            if known is not None and len(node.params.params) >= _SIDES:
                yield from self._written(unit, known, settled)
        elif unit.name.rpartition(".")[2] in _NAMES:
            owner = unit.name.rpartition(".")[0]
            known = None
            if may_mean_fields(owner, unit.file):
                known = class_of_name(owner, unit.file.path, {}, repo.index)
            if known is not None:
                yield from self._written(unit, known, settled)

    def _declared(self, unit: Unit, settled: set[str]) -> Iterator[Finding]:
        for node in unit.find(cst.AnnAssign):
            name, value = dotted(node.target), node.value
            if not isinstance(value, cst.Call) or last_name(value) not in ("field", "attrib", "ib", "Field"):
                continue
            off = [
                a
                for a in value.args
                if a.keyword and a.keyword.value == "compare" and dotted(a.value) == "False"
            ]
            if off and name not in settled and not _VOLATILE.search(name) and not _IDENTITY.search(name):
                yield self.finding(
                    unit,
                    node,
                    f"equality leaves `{name}` out: two that differ in it are equal in every check",
                    certainty="question",
                    steps=(step(unit, off[0].value, "this takes the field out of the comparison"),),
                    still_catches=(f"only a check that names `{name}` itself",),
                )

    def _written(self, unit: Unit, known: Known, settled: set[str]) -> Iterator[Finding]:
        node = unit.node
        assert isinstance(node, cst.FunctionDef)
        params = [p.name.value for p in (*node.params.posonly_params, *node.params.params)]
        if len(params) < _SIDES or (unit.kind != "function" and len(params) != _SIDES):
            return
        params = params[:_SIDES]
        own, other = (_reads(node, name) for name in params)
        fields = [field for field in known.found.fields if not field.name.startswith("__")]
        compared = {field.name for field in fields} & own & other
        omitted = [f for f in fields if f.name not in own | other | settled and not _VOLATILE.search(f.name)]
        # What `__init__` takes as `base` it may keep and compare as `_base`.
        omitted = [f for f in omitted if f"_{f.name}" not in own & other]
        if not omitted or len(compared) < 2 or all(_IDENTITY.search(name) for name in compared):
            return
        if _looks_at_all(unit, node, params) or _hashes(unit, compared):
            return
        names = ", ".join(f"`{field.name}`" for field in omitted[:_SHOWN])
        certainty: Certainty = "likely" if len(compared) > len(omitted) else "question"
        # A class that declares its fields is there to hold them; of others the author has chosen what counts.
        # Of several that are left out one that is compared may hold them.
        if unit.kind != "function" and (known.found.kind == "plain" or len(omitted) > 1):
            certainty = "question"
        tree = unit.tree
        # A docstring in an `__eq__` is there to say what counts.
        explained = isinstance(tree, ast.FunctionDef) and ast.get_docstring(tree) is not None
        if all(_LABEL.search(field.name) for field in omitted) or explained:
            certainty = "question"
        yield self.finding(
            unit,
            _verdict(node),
            f"this compares {len(own & other)} fields of `{known.found.name}` and leaves out {names}",
            certainty=certainty,
            steps=[
                Step(known.path, field.line, field.line, f"`{field.name}` is a field of the class")
                for field in omitted[:_SHOWN]
            ],
            still_catches=(f"only a check that names {names} itself",),
        )


def _hashes(unit: Unit, compared: set[str]) -> bool:
    """Whether the class makes its hash of the very fields that it compares: by them it is known."""
    for method in unit.owner.body if unit.owner is not None else ():
        if isinstance(method, ast.FunctionDef) and method.name == "__hash__":
            read = {node.attr for node in ast.walk(method) if isinstance(node, ast.Attribute)}
            return compared <= read and len(read & compared) == len(read)
    return False


def _annotated_alike(unit: Unit) -> str | None:
    """The class that annotates the first two parameters of a function alike, as it is written."""
    tree = unit.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)) or len(tree.args.args) < _SIDES:
        return None
    said = [ast.unparse(a.annotation) for a in tree.args.args[:_SIDES] if a.annotation is not None]
    named = (
        len(said) == _SIDES and said[0] == said[1] and said[0].strip("'\"").replace(".", "").isidentifier()
    )
    return said[0].strip("'\"") if named else None


def _reads(node: cst.FunctionDef, name: str) -> set[str]:
    return {
        below.attr.value
        for below in walk(node.body)
        if isinstance(below, cst.Attribute) and dotted(below.value) == name
    }


def _looks_at_all(unit: Unit, node: cst.FunctionDef, params: list[str]) -> bool:
    """Whether more may be compared than the fields that are named: by a loop, a base, a method of both."""
    for below in walk(node.body):
        if isinstance(below, cst.Call):
            if last_name(below) in _WHOLE:
                return True
            if isinstance(below.func, cst.Attribute) and dotted(below.func.value) in params:
                return True
            if any(dotted(arg.value) in params for arg in below.args) and last_name(below) not in (
                "isinstance", "type", "id", "hasattr",
            ):  # fmt: skip
                return True
        elif isinstance(below, cst.Attribute) and below.attr.value in ("__dict__", "__slots__"):
            return True
    return False


def _verdict(node: cst.FunctionDef) -> cst.CSTNode:
    """The last `return` that answers by a comparison, or the last one."""
    returns = [
        below for below in walk(node.body) if isinstance(below, cst.Return) and below.value is not None
    ]
    answers = [r for r in returns if any(isinstance(below, cst.Comparison) for below in walk(r))]
    return (answers or returns or [node])[-1]
