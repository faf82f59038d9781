"""Which files have to do with what a change touched: a finding may come up in them though none of their lines
changed. Everything is asked by name: the cost grows with the change, not with the repository."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from reviewbot.index.facts import Definition, Facts, Mention
from reviewbot.index.gather import facts_of, is_wanted
from reviewbot.index.index import Index
from reviewbot.index.templates import groups_of
from reviewbot.source.diff import FileDiff, Lines

CALLS_AWAY = 3  # through what tests call; of other code only what calls it straight is judged by it
LARGE = 20  # nodes of a function that is worth calling instead of writing it again
COMMON = 60  # of the files with a name that more of them have, only the nearest: all cost more than they tell

Read = Callable[[str], bytes | None]
Few = Callable[[set[str], str, str], set[str]]


@dataclass(frozen=True, slots=True)
class Affected:
    """The paths of unchanged files that a change has to do with, those with the most of it first. `cut` says
    of a name in more than `COMMON` files in how many it is: only the nearest of them are among `paths`.
    `common` says it of a key that a changed function writes: none of its readers are."""

    paths: tuple[str, ...]
    cut: dict[str, int]
    common: dict[str, int]


def affected(index: Index, diff: Iterable[FileDiff], head: Read, base: Read) -> Affected:
    """The unchanged files that call, construct, import, read or repeat what the diff touched, or define what
    it uses. `head` and `base` read the files after and before the change."""
    diff = tuple(diff)
    links: Counter[str] = Counter()
    cut: dict[str, int] = {}
    common: dict[str, int] = {}

    def few(paths: set[str], name: str, path: str) -> set[str]:
        if len(paths) <= COMMON:
            return paths
        cut[name] = max(len(paths), cut.get(name, 0))
        return set(sorted(paths, key=lambda other: (-_shared(path, other), other))[:COMMON])

    for one in diff:
        sides = ((one.path, one.changed, head), (one.old_path, one.removed, base))
        for path, lines, read in sides:
            content = read(path) if path is not None and lines and is_wanted(path) else None
            if path is not None and content is not None:
                facts, body = facts_of(path, content), _body(path, content)
                links.update(_users(index, path, _touched(facts, lines), few, common))
                links.update(_importers(index, path, _constants(body, lines), few))
                links.update(_imported(index, path, facts, _names(body, lines)))
    for one in diff:
        links.pop(one.path or "", None)
        links.pop(one.old_path or "", None)
    return Affected(tuple(sorted(links, key=lambda path: (-links[path], path))), cut, common)


def _shared(path: str, other: str) -> int:
    """How many folders, from the top, two files have in common."""
    pairs = zip(path.split("/")[:-1], other.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _overlap(lines: Iterable[Lines], first: int, last: int) -> list[Lines]:
    return [one for one in lines if first <= one[1] and one[0] <= last]


def _touched(facts: Facts, lines: tuple[Lines, ...]) -> Facts:
    """The facts that stand on those lines, or in a function that has one of them. A class is touched outside
    of its methods, or in the one that makes it."""

    def touched(definition: Definition) -> bool:
        ranges = _overlap(lines, definition.line, definition.end_line)
        if definition.kind != "class":
            return bool(ranges)
        methods = [
            one
            for one in facts.definitions
            if one.name.startswith(f"{definition.name}.") and not one.name.endswith(".__init__")
        ]
        return any(not any(m.line <= first and last <= m.end_line for m in methods) for first, last in ranges)

    definitions = tuple(filter(touched, facts.definitions))
    names = {one.name for one in definitions}

    def counts(function: str, first: int, last: int) -> bool:
        return function in names or bool(_overlap(lines, first, last))

    return Facts(
        definitions=definitions,
        logs=tuple(one for one in facts.logs if counts(one.function, one.line, one.end_line)),
        written=tuple(one for one in facts.written if counts(one.function, one.line, one.line)),
        mentions=tuple(one for one in facts.mentions if counts("?", one.line, one.line)),
    )


def _body(path: str, content: bytes) -> list[ast.stmt]:
    if not path.endswith(".py"):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _constants(body: list[ast.stmt], lines: tuple[Lines, ...]) -> set[str]:
    """The names that a module gives a value on those lines."""
    names = set()
    for statement in body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        if _overlap(lines, statement.lineno, statement.end_lineno or statement.lineno):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def _names(body: list[ast.stmt], lines: tuple[Lines, ...]) -> set[str]:
    """The names that the statements with those lines use; of a class those of its methods with them."""
    found: set[str] = set()
    for one in body:
        if _overlap(lines, one.lineno, one.end_lineno or one.lineno):
            if isinstance(one, ast.ClassDef):
                found |= _names(one.body, lines)
            else:
                found |= {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
    return found


def _imported(index: Index, path: str, facts: Facts, names: set[str]) -> Iterator[str]:
    """The files that define what those names stand for: how a class or a setting is used may be what its own
    file is judged by."""
    for one in facts.imports:
        if one.name.partition(".")[0] in names:
            home = one.target.rpartition(".")[0]
            found = index.module(one.target, path) or (index.module(home, path) if home.strip(".") else None)
            if found is not None:
                yield found


def _importers(index: Index, path: str, names: Iterable[str], few: Few) -> Iterator[str]:
    """The files that import one of a module's names from it, once for each."""
    for name in names:
        found = {at.path for at in index.look("import", name) if _comes_from(at.fact.target, path)}
        yield from few(found, name, path)


def _comes_from(target: str, path: str) -> bool:
    module = target.rpartition(".")[0].rpartition(".")[2]
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return module in ("", parts[-1])


def _users(index: Index, path: str, touched: Facts, few: Few, common: dict[str, int]) -> Iterator[str]:
    """The files that use any of the facts of one file, once for each fact."""
    yield from _callers(index, [(path, one) for one in touched.definitions], few)
    for definition in touched.definitions:
        if definition.size >= LARGE:
            yield from {where for where, _ in index.same_shape(definition.shape) if _judges(where)}
    readers = Counter(
        where
        for key in {one.name for one in touched.written}
        for where in _rare(key, {at for at, _ in index.readers(key)}, common)
    )
    # A record is known by more than one key.
    yield from (where for where, keys in readers.items() if keys > 1)
    for template, values in {(one.template, one.values) for one in touched.logs if one.values}:
        for where, regex in index.regexes():
            groups = groups_of(regex.pattern, template, values)
            if groups is not None and any(group is not None for group in groups):
                yield where
    for mention in touched.mentions:
        yield from _named(index, mention, few)


def _callers(index: Index, definitions: list[tuple[str, Definition]], few: Few) -> Iterator[str]:
    """The files that call any of these, straight or through other functions."""
    seen = {(path, one.name) for path, one in definitions}
    for _ in range(CALLS_AWAY):
        above: list[tuple[str, Definition]] = []
        for path, definition in definitions:
            calls = _importing(index, path, definition, few)
            yield from {where for where, _ in calls}
            if len({where for where, _ in calls}) == COMMON:
                continue  # what everybody calls leads everywhere
            for where, caller in calls:
                if caller and (where, caller) not in seen and _judges(where):
                    seen.add((where, caller))
                    found = index.definitions(caller.rpartition(".")[2])
                    above += [(at, one) for at, one in found if at == where and one.name == caller]
        definitions = above


def _judges(path: str) -> bool:
    """Whether a file's name says that it tests or compares."""
    return any(word in path for word in ("test", "check", "compar", "parity", "verif"))


def _importing(index: Index, path: str, definition: Definition, few: Few) -> list[tuple[str, str]]:
    """The calls that may run a definition, as (path, caller). A method's name is everybody's: only files that
    import its class or its module are taken to mean it."""
    found = index.callers(path, definition)
    if definition.kind == "method":
        owner = definition.name.rpartition(".")[0]
        module = path.removesuffix(".py").rpartition("/")[2]
        known = {at.path for name in (owner, module) for at in index.look("import", name)}
        found = tuple((where, call) for where, call in found if where == path or where in known)
    near = few({where for where, _ in found}, definition.name, path)
    return [(where, call.caller) for where, call in found if where in near]


def _rare(key: str, paths: set[str], common: dict[str, int]) -> set[str]:
    """The files that read a key, where these are few: one that all read tells no record from another, and is
    noted as common."""
    if len(paths) <= COMMON:
        return paths
    common[key] = len(paths)
    return set()


def _named(index: Index, mention: Mention, few: Few) -> Iterator[str]:
    """The file that a script or CI file names, and those beside it: whether they run may hang on it."""
    word = mention.word.rstrip("/")
    name = word.rpartition("/")[2]
    tail = "/".join(word.split("/")[-2:]) if "$" not in word else name
    for at in index.look("path", name):
        if f"/{at.path}".endswith(f"/{tail.lstrip('./')}"):
            yield at.path
            suffix = name.rpartition(".")[2]
            beside = index.paths_in(at.path.rpartition("/")[0])
            yield from few({path for path in beside if path.endswith(f".{suffix}")}, name, at.path)
