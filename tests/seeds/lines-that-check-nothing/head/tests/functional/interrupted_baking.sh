set -e
python -m bakery.bake --out "$OUT/whole"
python -m bakery.bake --out "$OUT/first" --interrupt
python -m bakery.bake --out "$OUT/second" --resume "$OUT/first"
jq -f tests/functional/trays.jq "$OUT/second/rows.json" > "$OUT/trays.json"
python tests/functional/compare.py "$OUT/whole" "$OUT/second"
