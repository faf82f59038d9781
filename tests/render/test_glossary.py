"""Terms in prose are explained once a page; what comes from code is inert."""

from __future__ import annotations

from reviewbot.render.glossary import Words


def test_a_term_is_explained_where_it_first_stands_and_listed():
    words = Words()
    first = words.prose("the restored prefix of a rollout")
    again = words.prose("another restored prefix, and a prefix")
    assert first.count('class="term"') == 2 and "a checkpoint kept" in first
    assert again.count('class="term"') == 1
    assert [term.name for term in words.used] == ["restored prefix", "rollout", "prefix"]


def test_what_stands_in_a_message_is_text():
    shown = Words().prose("<script>alert(1)</script> `<img src=x onerror=y>` \u202e & a `lo``ose` one")
    assert "<script" not in shown and "<img" not in shown and "\u202e" not in shown
    assert "&lt;script&gt;" in shown and "<code>&lt;img src=x onerror=y&gt;</code>" in shown
    assert "&lt;U+202E&gt;" in shown


def test_our_own_paragraphs_are_whole_and_a_message_is_cut():
    long = "word " * 300
    assert "…" not in Words().paragraphs(long)
    assert "…" in Words().prose(long)
