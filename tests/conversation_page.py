"""A pull request's conversation as a page, the way that GitHub lays it out, for people to look at."""

from __future__ import annotations

import html
from itertools import chain
from typing import Any

from cmarkgfm import github_flavored_markdown_to_html
from cmarkgfm.cmark import Options
from fakegithub import FakeGitHub

STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; max-width: 860px; margin: 24px auto; color: #1f2328; }
article { border: 1px solid #d0d7de; border-radius: 6px; margin: 0 0 16px; }
article > header { background: #f6f8fa; padding: 6px 14px; border-bottom: 1px solid #d0d7de; }
article > div { padding: 6px 14px; overflow-wrap: anywhere; }
.reply { margin-left: 40px; } .bot > header { background: #ddf4ff; }
pre { background: #f6f8fa; padding: 10px; overflow-x: auto; } code { background: #eff1f3; font-size: 12px; }
blockquote { border-left: 3px solid #d0d7de; margin-left: 0; padding-left: 12px; color: #57606a; }
table { border-collapse: collapse; } td, th { border: 1px solid #d0d7de; padding: 3px 8px; }
"""


def page(fake: FakeGitHub, number: int = 7) -> str:
    """The title, the conversation, the threads on lines with their replies, and the check runs."""
    world = fake.world
    pull = world.pulls[number]
    state = "merged" if pull.merged else pull.state
    labels = ", ".join(pull.labels) or "none"
    parts = [f"<h1>{html.escape(pull.title)} #{number}</h1><p>{state}; labels: {labels}</p>"]
    parts.append("<h2>Conversation</h2>")
    parts += [_said(one) for one in world.comments.values() if one["pull"] == number]
    parts.append("<h2>On the lines</h2>")
    threads: dict[int, list[str]] = {}
    for one in world.review_comments.values():
        if one["pull"] == number:
            first = one["reply_to"] or one["id"]
            where = "" if one["reply_to"] else f" on {one['path']}:{one['line'] or 'the file'}"
            threads.setdefault(first, []).append(_said(one, where, "reply" if one["reply_to"] else ""))
    parts += chain.from_iterable(threads.values())
    parts.append("<h2>Checks</h2><table>")
    for check in world.checks.values():
        row = (check["head_sha"][:12], check["name"], check["conclusion"], check["output"].get("title"))
        parts.append(f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>")
    parts.append("</table>")
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{number}</title><style>{STYLE}</style>"
    return f"{head}<body>{''.join(parts)}</body></html>"


def _said(comment: dict[str, Any], where: str = "", kind: str = "") -> str:
    who = comment["by"]
    kinds = f"{kind}{' bot' if who.endswith('[bot]') else ''}"
    body = github_flavored_markdown_to_html(comment["body"], Options.CMARK_OPT_UNSAFE)
    name = f"<b>{html.escape(who)}</b>{html.escape(where)}"
    return f'<article class="{kinds}"><header>{name}</header><div>{body}</div></article>'
