"""The shape of a function's body: what two functions share when they differ in local names alone."""

from __future__ import annotations

import ast
import hashlib

from reviewbot.source.held import Held

MIN_SHAPE = 12

_NO_SHAPE = frozenset({"ctx", "type_comment", "annotation", "returns", "kind"})
_HELD = Held(_NO_SHAPE, last_first=True)


def shape_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, int]:
    """A digest of a function's body with parameters and local names numbered in order of appearance, and
    the number of nodes; "" for a body of fewer than `MIN_SHAPE` nodes."""
    body = own_body(node)
    if len(body) < 2 and not (body and isinstance(body[0], _COMPOUND)):
        return "", 0
    words, nodes = body_words(node)
    if nodes < MIN_SHAPE:
        return "", nodes
    digest = hashlib.blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8)
    return digest.hexdigest(), nodes


def own_body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """A function's statements without its docstring; none where all of them were taken out."""
    first = node.body[0].value if node.body and isinstance(node.body[0], ast.Expr) else None
    documented = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return node.body[1:] if documented else node.body


def body_words(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[list[str], int]:
    """A function's body word by word, parameters and local names numbered in order of appearance, and the
    number of its nodes. A literal is the word after "Constant"."""
    arguments = node.args
    local = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    local += [arg.arg for arg in (arguments.vararg, arguments.kwarg) if arg]
    words, stored, nodes = words_of(own_body(node))
    numbers = {name: number for number, name in enumerate(local)}
    local_names = stored.union(local)
    out: list[str] = []
    for word in words:
        # A tuple of one is a name; anything else is written as it is.
        if isinstance(word, tuple):
            (name,) = word
            out.append(f"${numbers.setdefault(name, len(numbers))}" if name in local_names else name)
        else:
            out.append(word)
    return out, nodes


_COMPOUND = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.If, ast.Try, ast.Match)


def words_of(body: list[ast.stmt]) -> tuple[list[str | tuple[str]], set[str], int]:
    """The code of a body word by word, the names that it stores, and the number of its nodes."""
    words: list[str | tuple[str]] = []
    stored: set[str] = set()
    nodes = 0
    stack: list[object] = [*reversed(body)]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            nodes += 1
            words.append((node.id,))  # type: ignore[attr-defined]
            if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
                stored.add(node.id)  # type: ignore[attr-defined]
        elif kind is list:
            words.append(str(len(node)))  # type: ignore[arg-type]
            stack += node[::-1]  # type: ignore[index]
        # Most nodes are of the next kinds: their fields are read without a look at a table.
        elif kind is ast.Constant:
            nodes += 1
            words += ("Constant", repr(node.value))  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            nodes += 1
            words.append("Attribute")
            stack += (node.attr, node.value)  # type: ignore[attr-defined]
        elif kind is ast.Call:
            nodes += 1
            words.append("Call")
            stack += (node.keywords, node.args, node.func)  # type: ignore[attr-defined]
        elif isinstance(node, ast.AST):
            nodes += 1
            words.append(kind.__name__)
            stack += _HELD[kind](node)
        else:
            words.append(repr(node))
    return words, stored, nodes
