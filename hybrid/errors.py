"""Every exception a caller may catch.

HybridError                     exit code 1
├── UsageError                  2   an argument or setting that is not allowed
├── InputError                  5   a conversation that cannot be read
│   └── FormatError             5   the format is unknown or broken
├── ContentError                1   rules/, models/ or prompts/ missing or broken
│   ├── RuleError               1   a rule file that is malformed or fails its own examples
│   └── PromptError             1   a prompt that does not render
├── PipelineError               1   stages in an order whose needs are not met
├── ModelError                  3   the model cannot be used
│   ├── ModelMissingError       3   no such file; the hint names the install command
│   ├── GrammarError            3   llama.cpp refused the grammar
│   └── PromptTooLongError      3   prompt plus answer exceed the context
├── StoreError                  4   the database file cannot be used
│   └── StoreLockedError        4   another process holds it
├── UnknownMemoryError          1   no memory has this id
└── CancelledError            130   the caller asked to stop

No message ever quotes conversation text or a secret.
"""

from __future__ import annotations

from typing import ClassVar


class HybridError(Exception):
    """Say what happened, and in `hint` what to do about it."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(HybridError):
    """Report an argument or setting that is not allowed."""

    exit_code = 2


class InputError(HybridError):
    """Report a conversation that cannot be read."""

    exit_code = 5


class FormatError(InputError):
    """Report a conversation format that is unknown or broken."""


class ContentError(HybridError):
    """Report a content folder or file that is missing or broken."""


class RuleError(ContentError):
    """Report a rule that is malformed or fails its own examples."""


class PromptError(ContentError):
    """Report a prompt that does not render."""


class PipelineError(HybridError):
    """Report stages whose needs the earlier stages do not meet."""


class ModelError(HybridError):
    """Report a model that cannot be used."""

    exit_code = 3


class ModelMissingError(ModelError):
    """Report a model file that is not where it was expected."""


class GrammarError(ModelError):
    """Report a grammar that llama.cpp does not accept."""


class PromptTooLongError(ModelError):
    """Report a prompt that leaves no room for its answer."""


class StoreError(HybridError):
    """Report a database file that cannot be used."""

    exit_code = 4


class StoreLockedError(StoreError):
    """Report a database file that another process keeps locked."""


class UnknownMemoryError(HybridError):
    """Report an id that no memory has."""


class CancelledError(HybridError):
    """Report that the caller asked to stop; everything stored so far is kept."""

    exit_code = 130
