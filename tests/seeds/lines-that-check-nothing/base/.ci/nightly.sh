set -e
run bash tests/functional/interrupted_mixing.sh
