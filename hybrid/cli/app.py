"""The root command, and what happens to errors: one line, a hint, an exit code."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, NoReturn

import typer

import hybrid
from hybrid.cli import annotate, extract, memory, model, remember
from hybrid.cli import rules as rules_command
from hybrid.errors import CancelledError, HybridError

# Typer may bring its own copy of click; this is the root of the errors that it raises for a wrong call.
_WrongCall: type[Exception] = next(
    c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException" and issubclass(c, Exception)
)

app = typer.Typer(
    name="hybrid",
    help="Turn conversations into typed, dated, attributed memories: rules first, a local model second, no network.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(name="annotate")(annotate.command)
app.command(name="extract")(extract.command)
app.command(name="remember")(remember.command)
app.add_typer(memory.app, name="memory")
app.add_typer(model.app, name="model")
app.add_typer(rules_command.app, name="rules")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hybrid {hybrid.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)] = False,
) -> None:
    """Turn conversations into typed, dated, attributed memories: rules first, a local model second, no network."""


def run() -> NoReturn:
    """Run the command line and leave with its exit code."""
    as_json = "--json" in sys.argv
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
        if code == CancelledError.exit_code:
            # Typer turns the interruption into a code; the words are ours.
            code = _interrupted(as_json)
    except HybridError as error:
        code = _told(type(error).__name__, error.message, error.hint, error.exit_code, as_json)
    except typer.Abort:
        code = _interrupted(as_json)
    except _WrongCall as error:
        code = _told("UsageError", getattr(error, "format_message", lambda: "wrong call")(), "see --help", 2, as_json)
    except KeyboardInterrupt:
        code = _interrupted(as_json)
    except (BrokenPipeError, SystemExit) as error:
        code = _left(error)
    except Exception as error:
        if os.environ.get("HYBRID_DEBUG"):
            raise
        hint = "set HYBRID_DEBUG=1 to see where; the trace may quote the conversation"
        code = _told("InternalError", f"unexpected {type(error).__name__}", hint, 1, as_json)
    sys.exit(code if isinstance(code, int) else 0)


def _left(error: BaseException) -> int | str | None:
    """Return the exit code where the reader of the pipe has gone: what it wanted, it has."""
    # Typer turns a broken pipe into an exit.
    if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
        return error.code if isinstance(error, SystemExit) else 1
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _interrupted(as_json: bool) -> int:
    return _told(
        "CancelledError", "interrupted", "what was stored is kept; run it again to go on", CancelledError.exit_code, as_json
    )


def _told(kind: str, message: str, hint: str, code: int, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": {"type": kind, "message": message, "hint": hint}}, ensure_ascii=False), file=sys.stderr)
    else:
        print(f"error: {message}" + (f"\n  hint: {hint}" if hint else ""), file=sys.stderr)
    return code
