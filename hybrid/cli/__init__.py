"""The command line: one file a command group, adapters over the Python functions."""

from __future__ import annotations


def main() -> None:
    """Run the `hybrid` command."""
    from hybrid.cli.app import run

    run()
