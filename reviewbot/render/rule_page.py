"""A rule explained from its own file, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewbot.lint import registry
from reviewbot.lint.rule import MARK, Example
from reviewbot.render.inert import block

USUAL = Example("").path  # where an example stands whose path does not matter
BAD, GOOD = 2, 1  # examples of a short page
SUPPRESSION = """\
# suppression

A comment that means to silence a rule, and silences nothing. `lint` reports it itself: it is no rule that can
be selected, ignored or silenced.

## Why

A finding that is silenced without a reason, or by a name that no rule has, looks settled to whoever reads the
code and is settled for nobody. A comment that has outlived its finding would silence the next one unseen; of
that it is asked, where the rule has looked at the file and `lint` was not told which rules to run.

## Instead

Name a rule that there is, and say why it is wrong here. `reviewbot rule` lists the rules. Take out
what silences nothing.

## Reported

```python
assert left == left  # reviewbot: ignore
assert left == left  # reviewbot: ignore[self-compair] the same on purpose
assert left == left  # reviewbot: ignore[self-compare]
assert left == right  # reviewbot: ignore[self-compare] __eq__ itself is under test
```

## Left alone

```python
assert left == left  # reviewbot: ignore[self-compare] __eq__ itself is under test
```
"""


def page(rule_id: str) -> str:
    """All of a rule's documentation: what, why, what instead, its examples, how to silence it."""
    rule = registry.load(rule_id)
    return _page(rule_id, rule.bad, rule.good)


def short(rule_id: str) -> str:
    """The same with the first examples only, and how many more there are."""
    rule = registry.load(rule_id)
    shown = _page(rule_id, rule.bad[:BAD], rule.good[:GOOD])
    more = (max(0, len(rule.bad) - BAD), max(0, len(rule.good) - GOOD))
    if not any(more):
        return shown
    what = f"{more[0]} more that are reported and {more[1]} more that are left alone"
    return f"{shown}\n## More examples\n\n`reviewbot rule {rule_id} --all` shows {what}.\n"


def _page(rule_id: str, bad: Iterable[Example], good: Iterable[Example]) -> str:
    parts = [f"# {rule_id}", registry.docstring(rule_id).strip()]
    parts += ["## Reported", f"at the lines that end in `{MARK}`:"]
    parts += [text for example in bad for text in _example(example)]
    parts.append("## Left alone")
    parts += [text for example in good for text in _example(example)]
    parts.append("## To silence it")
    parts.append(block(f"# reviewbot: ignore[{rule_id}] the reason, which is required\n", "python"))
    parts.append("at the end of the line, or alone on the line above.")
    return "\n\n".join(parts) + "\n"


def _example(example: Example) -> Iterator[str]:
    for path, text in example.before.items():
        yield f"`{path}`, before the change:"
        yield block(text.strip("\n") + "\n", "python" if path.endswith(".py") else "")
    for path, text in (*example.files.items(), (example.path, example.code)):
        if example.files or example.before or path != USUAL:
            yield f"`{path}`:"
        yield block(text.strip("\n") + "\n", "python" if path.endswith(".py") else "")
