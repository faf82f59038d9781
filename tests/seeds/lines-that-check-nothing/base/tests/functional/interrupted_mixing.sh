set -e
python -m bakery.mix --interrupt
