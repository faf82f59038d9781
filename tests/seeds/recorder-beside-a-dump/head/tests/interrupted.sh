#!/usr/bin/env bash
set -euo pipefail
OUT=$(mktemp -d)
LOGS="$OUT/logs"
python -m survey.run --nights 3 --log-dir "$OUT/whole"
python -m survey.run --nights 2 --log-dir "$LOGS"
python -m survey.run --nights 3 --resume --log-dir "$LOGS"
python tests/compare_nights.py --whole "$OUT/whole" --resumed "$LOGS"
