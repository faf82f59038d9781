"""A rule explained from its own file, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.lint import registry
from reviewbot.lint.rule import MARK, Example
from reviewbot.render.inert import block


def page(rule_id: str) -> str:
    """All of a rule's documentation: what, why, what instead, its examples, how to silence it."""
    rule = registry.load(rule_id)
    parts = [f"# {rule_id}", registry.docstring(rule_id).strip()]
    for title, examples in (("## Reported", rule.bad), ("## Left alone", rule.good)):
        parts.append(title)
        if examples is rule.bad:
            parts.append(f"at the lines that end in `{MARK}`:")
        parts += [text for example in examples for text in _example(example)]
    parts.append("## To silence it")
    parts.append(block(f"# reviewbot: ignore[{rule_id}] the reason, which is required\n", "python"))
    parts.append("at the end of the line, or alone on the line above.")
    return "\n\n".join(parts) + "\n"


def _example(example: Example) -> Iterator[str]:
    for path, text in example.before.items():
        yield f"`{path}`, before the change:"
        yield block(text.strip("\n") + "\n", "python" if path.endswith(".py") else "")
    for path, text in (*example.files.items(), (example.path, example.code)):
        if example.files or example.before:
            yield f"`{path}`:"
        yield block(text.strip("\n") + "\n", "python" if path.endswith(".py") else "")
