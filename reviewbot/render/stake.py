"""What a finding means for this very code, in a sentence before what its rule says of all code."""

from __future__ import annotations

from reviewbot.model import Finding


def at_stake(finding: Finding) -> str:
    """Who gets what instead, and that nothing says so; "" for rules whose claim says it all."""
    names = finding.message.split("`")[1::2]
    if finding.rule == "field-dropped-on-rebuild" and len(names) >= 3:
        builder, _, lost = names[:3]
        default = finding.message.rpartition("falls back to ")[2].strip("`") or "its default"
        readers = [step.says.split("`")[1] for step in finding.steps if " reads `" in step.says]
        who = f"`{readers[0]}`" if readers else "whoever reads it"
        gone = " Its source has given it away, so nothing can offer it again." if _is_taken(finding) else ""
        return (
            f"Behind `{builder}`, {who} finds {default} in place of what `{lost}` held, and nothing fails: "
            f"the run goes on as if there had been no `{lost}`.{gone}"
        )
    if finding.rule == "ignored-option-pair" and len(names) >= 4:
        shared, accepted = names[0], finding.message.partition("accepted with `")[2].partition("`")[0]
        lost = finding.message.partition("although `")[2].partition("`")[0]
        return (
            f"Who sets `{shared}` and `{accepted}` gets a run that is accepted and goes on without `{lost}`; "
            "no message says so."
        )
    return ""


def _is_taken(finding: Finding) -> bool:
    return any("taken out of its source" in step.says for step in finding.steps)
