"""Text of others put into Markdown so that nothing in it acts.

GitHub works in two steps: CommonMark with its extensions makes HTML, then filters look for mentions,
issues, commits, e-mail and web addresses and emoji codes in what is text by then. A backslash holds off the
first step only; for the second a zero-width space breaks what it looks for. It looks into no code.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

BREAK = "\u200b"  # zero-width space

# What opens a block where a line starts, after up to three spaces.
_STARTS = re.compile(r"^(\d{1,9})([.)])|^([-+=#>~:|])")
_INLINE = re.compile(r"[\\`*_\[\]<>&|~$]")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_TRIGGERS = re.compile(
    r"""
      (?<=[@:])(?=\S)                  # mention, e-mail address, emoji code, scheme
    | (?<=\$)(?!\s)                    # formula, also one that is code between two of them
    | (?<=\#)(?=\w)                    # issue
    | (?<=gh)(?=-\d)                # issue
    | (?<=www)(?=\.)                   # address without a scheme
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Code as Markdown writes it: between two equal runs of backticks.
_CODE = re.compile(r"(?<!`)(?P<run>`+)(?!`)(?P<inner>.*?[^`])(?P=run)(?!`)")
_COMMIT = re.compile(r"[0-9a-f]{7,}", re.IGNORECASE)
# Invisible characters: they reorder or hide what is around them. Joiners that scripts and emoji need are
# among them, and are spelled out too.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters that show nothing
_BARS = re.compile(r"(\\*)\|")
_BYTES = re.compile("[\udc80-\udcff]")
LONGEST = 600  # characters of one piece of text; the rest is cut off, and an ellipsis says so


class Markdown(str):
    """Text that is Markdown already, and goes out as it is."""

    __slots__ = ()


def spelled(text: str, backslash: str = "\\") -> str:
    """The text with the bytes of a name that are not UTF-8, lone surrogates as `os.fsdecode` makes them,
    spelled out, such as `\\xff`; `backslash` is how the format writes one."""
    return _BYTES.sub(lambda match: f"{backslash}x{ord(match[0]) - 0xDC00:02x}", text)


def visible(text: str, keep: str = "") -> str:
    """The text with characters that cannot be seen spelled out, such as `<U+202E>`; those of `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"<U+{ord(c):04X}>" if _unseen(c) and c not in keep else c for c in spelled(text))


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN or character in _BLANKS


def one_line(text: str) -> str:
    """The text on one line, white space folded, not longer than `LONGEST`."""
    words = " ".join(text[: 2 * LONGEST].split())
    return visible(words if len(words) <= LONGEST else words[:LONGEST] + "…")


def plain(text: str) -> Markdown:
    """The text as words on one line."""
    words = _INLINE.sub(lambda match: _escaped(match[0]), _broken(one_line(text)))
    return Markdown(
        _STARTS.sub(lambda match: rf"{match[1]}\{match[2]}" if match[1] else rf"\{match[3]}", words)
    )


def within_html(text: str) -> Markdown:
    """The text as words between tags, where Markdown is not read, and GitHub's filters look all the same."""
    import html

    return Markdown(html.escape(_broken(one_line(text))))


def _broken(words: str) -> str:
    """Words in which GitHub's filters find nothing."""
    return _COMMIT.sub(lambda match: BREAK.join(_sixes(match[0])), _TRIGGERS.sub(BREAK, words))


def _sixes(digits: str) -> Iterator[str]:
    return (digits[at : at + 6] for at in range(0, len(digits), 6))


def _escaped(character: str) -> str:
    return _ENTITIES.get(character, "\\" + character)


def code(text: str) -> Markdown:
    """The text as a code span on one line."""
    inner = one_line(text)
    if not inner:
        return Markdown("")
    fence = "`" * (_longest(inner) + 1)
    # White space at the ends is stripped off once, if it stands at both.
    pad = " " if inner[0] == "`" or inner[-1] == "`" else ""
    return Markdown(f"{fence}{pad}{inner}{pad}{fence}")


def link(text: str, address: str) -> Markdown:
    """A link whose label is the text as a code span. `address` is trusted, and has no parentheses."""
    # At the start of a paragraph "[`a]: b`]" would define a reference, code span or not.
    label = code(text).replace("]:", f"]{BREAK}:")
    return Markdown(f"[{label}]({address})")


def prose(text: str) -> Markdown:
    """A sentence in which `code` between backticks is code, and the rest words on one line.

    Whatever stands in it, both come out inert; text that has backticks of its own only changes which of
    the two it is.
    """
    words = one_line(text)
    shown = []
    at = 0
    for match in _CODE.finditer(words):
        shown += [_between(words[at : match.start()]), code(match["inner"])]
        at = match.end()
    return Markdown("".join([*shown, _between(words[at:])]))


def _between(words: str) -> str:
    """Words beside code: the space that parts them from it stays."""
    if not words.strip():
        return words
    return f"{' ' * words.startswith(' ')}{plain(words)}{' ' * words.endswith(' ')}"


def claim(text: str) -> Markdown:
    """A finding's message as a sentence: a capital first, a full stop last."""
    words = one_line(text)
    return prose(words[:1].upper() + words[1:] + ("" if words.endswith((".", "?", "!")) else "."))


def block(text: str, language: str) -> Markdown:
    """The text as a fenced code block."""
    body = visible(text.replace("\r\n", "\n"), keep="\n\t")
    fence = "`" * max(3, _longest(body) + 1)
    return Markdown(
        f"{fence}{language}\n{body}{'' if body.endswith(chr(10)) or not body else chr(10)}{fence}"
    )


def cell(text: str) -> Markdown:
    """Markdown as a cell of a table holds it: a bar would end the cell, in code too."""
    return Markdown(_BARS.sub(lambda match: match[0] if len(match[1]) % 2 else f"{match[1]}\\|", text))


def _longest(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
