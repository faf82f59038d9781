"""A byte-level causal model of 607,296 parameters, trained for the workload by `train.py` beside it."""

from pathlib import Path

FOLDER = Path(__file__).parent
