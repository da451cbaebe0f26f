"""Run the command line with `python -m hybrid`."""

from __future__ import annotations

from hybrid.cli import main

if __name__ == "__main__":
    main()
