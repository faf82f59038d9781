"""What a run showed of a finding, as the finding carries it on."""

from __future__ import annotations

import json

from reviewbot.model import Evidence
from reviewbot.probe.confirm import Judged
from reviewbot.render import probe_json, probe_text


def evidence(judged: Judged) -> Evidence:
    """The evidence of a confirmed finding."""
    if judged.witness is None:
        return Evidence(judged.entry, judged.says)
    drawn = (*probe_text.drawn(judged.witness), *filter(None, probe_text.argument(judged.witness)))
    document = json.dumps(probe_json.of_witness(judged.witness), ensure_ascii=False, allow_nan=False)
    return Evidence(judged.entry, judged.says, tuple(drawn), document)
