"""`python -m reviewbot`."""

from reviewbot.cli.main import run

if __name__ == "__main__":
    run()
