"""Whether a field that a new object is built without was left out on purpose, as far as names, docstrings and
tests say."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.source.units import Unit

MEANT = "may be meant"  # in a step that says so
# What is left out for the sake of whom it is shown to, or because a new object has one of its own.
_SECRET = re.compile(
    r"^(\w+_)?(password|passwd|passphrase|secret|credentials?|api_?key|private_key|access_key|csrf|otp|ssn)$"
    r"|^((auth|access|refresh|session|api|reset|bearer|user|login|csrf)_)?token$|^(password_)?salt$"
)
_IDENTITY = re.compile(r"^_?(id|pk|uuid|uid|guid|primary_key)$")
_SAYS = re.compile(
    r"(?<![a-z])(public(ly)?|redact\w*|anonymi[sz]\w*|saniti[sz]\w*|censor\w*|scrub\w*|conceal\w*|obfuscat\w*|"
    r"strip(s|ped)?|duplicates?|fresh|blank|reset|pristine|template|new[_ ]id)(?![a-z])"
)
_WITHOUT = re.compile(
    r"(?<![a-z])(without|omit\w*|drop(s|ped)?|leaves?|left|never|not?|hid(es?|den)|forgets?)(?![a-z])"
)
# What a function that hands the same thing on calls itself.
_AGAIN = re.compile(
    r"(?<![a-z])(cop(y|ies)|clone[sd]?|restor\w+|resum\w+|rebuil\w+|recover\w*|replac\w+|updat\w+|with|renam\w+|"
    r"mov(e|es|ed)|(de)?serializ\w+|load(s|ed)?|sav(e|es|ed)|evolve[sd]?|carr(y|ies|ied)|same)(?![a-z])"
)


def secret_or_identity(name: str) -> bool:
    """Whether a field by its name is a secret, or says which object it is."""
    return bool(_SECRET.match(name.lower()) or _IDENTITY.match(name.lower()))


def says_so(tree: ast.AST, lost: Collection[str]) -> bool:
    """Whether a function's name or docstring says that something is left out: `redacted`, `without_token`,
    "Never log the token"."""
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    name, said = tree.name.lower(), (ast.get_docstring(tree) or "").lower()
    if _SAYS.search(name.replace("_", " ")) or _SAYS.search(said) or "new_id" in name:
        return True
    if re.search(r"(^|_)without_", name):
        return True
    return bool(_WITHOUT.search(said)) and any(
        re.search(rf"\b{re.escape(one.lower())}\b", said) for one in lost
    )


def is_handed_on(tree: ast.AST, cls: str) -> bool:
    """Whether a function says that it gives back what it takes: by what it says that it returns, or by a name
    or docstring that speaks of a copy."""
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    last = cls.rpartition(".")[2]
    returned = ast.unparse(tree.returns) if tree.returns is not None else ""
    if re.search(rf"\b({re.escape(last)}|Self)\b", returned):
        return True
    said = f"{tree.name} {ast.get_docstring(tree) or ''}".lower().replace("_", " ")
    return bool(_AGAIN.search(said))


def demanded(
    test: Unit, function: str, cls: str, defaults: Mapping[str, str], order: Sequence[str]
) -> set[str]:
    """The fields that a test wants at their default in what `function` gives back.

    `defaults`: {field: its default as source}; `order`: the fields of the class as its constructor takes
    them.
    """
    made = _made_by(test.tree, function)
    found: set[str] = set()
    for left, right in _equalities(test.tree):
        for mine, other in ((left, right), (right, left)):
            if (
                isinstance(mine, ast.Attribute)
                and mine.attr in defaults
                and _is_made(mine.value, function, made)
            ):
                if _is_default(other, defaults[mine.attr]):
                    found.add(mine.attr)
            elif _is_made(mine, function, made) and isinstance(other, ast.Call) and _last(other.func) == cls:
                given = {keyword.arg for keyword in other.keywords} | set(order[: len(other.args)])
                if None not in given and not any(isinstance(one, ast.Starred) for one in other.args):
                    found |= {name for name in defaults if name not in given}
    return found


def _made_by(tree: ast.AST, function: str) -> set[str]:
    """The names that hold what the function gives back."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _calls(node.value, function)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_made(node: ast.expr, function: str, made: Collection[str]) -> bool:
    return _calls(node, function) or (isinstance(node, ast.Name) and node.id in made)


def _calls(node: ast.expr, function: str) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) == function


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _equalities(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a test holds against each other: two values, or a value and what it is said to be."""
    nothing = ast.Constant(None)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield from _asserted(node.test)
        elif isinstance(node, ast.Call):
            name, args = _last(node.func), node.args
            if name in ("assertEqual", "assertEquals", "assertIs") and len(args) > 1:
                yield args[0], args[1]
            elif name in ("assertIsNone", "assertFalse") and args:
                yield args[0], nothing if name == "assertIsNone" else ast.Constant(False)


def _asserted(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from _asserted(part)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield test.operand, ast.Constant(False)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.Is)):
        left, right = test.left, test.comparators[0]
        if isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple) and len(left.elts) == len(right.elts):
            yield from zip(left.elts, right.elts, strict=True)
        else:
            yield left, right


def _is_default(node: ast.expr, default: str) -> bool:
    """Whether an expression is the default: written so, or as empty as an empty one."""
    if ast.unparse(node) == default:
        return True
    empty = ("None", "False", "''", '""', "()", "[]", "{}", "0")
    return ast.unparse(node) in empty and (
        default in empty or default.startswith(("field(", "dict(", "list("))
    )
