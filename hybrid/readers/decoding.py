"""Turn the bytes of a file into text, or say at which byte they are none."""

from __future__ import annotations

import codecs
from pathlib import Path

from hybrid.errors import FormatError, InputError

LIMIT_BYTES = 64 * 1024 * 1024
_SAVE = "save the conversation as text in UTF-8"


def load(path: Path, limit_bytes: int = LIMIT_BYTES) -> str:
    """Return the text of a file. Raises InputError for what cannot be opened, FormatError for what is no text."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder", "give the file of one conversation")
        with path.open("rb") as stream:
            raw = stream.read(limit_bytes + 1)
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist", "check the path") from error
    except PermissionError as error:
        raise InputError(f"{path} may not be read", "check the permissions of the file") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or type(error).__name__}", "check the path") from error
    except ValueError as error:
        raise InputError("the path is not one that can be opened", "check the path") from error
    if len(raw) > limit_bytes:
        raise InputError(f"{path} is larger than {limit_bytes:,} bytes", "split the conversation into several files")
    return decode(raw)


def decode(raw: bytes) -> str:
    """Return the text of UTF-8 bytes, or UTF-16 ones with a mark. Raises FormatError with the offset of the first bad byte."""
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise FormatError("the file is UTF-32, which is not read", _SAVE)
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF8, "utf-8")):
        if raw.startswith(mark):
            return _decoded(raw[len(mark) :], encoding, len(mark))
    return _decoded(raw, "utf-8", 0)


def lined(text: str) -> str:
    """Return the text with every line end as a line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(raw: bytes, encoding: str, skipped: int) -> str:
    if encoding == "utf-8" and b"\0" in raw:
        raise FormatError(f"the file is binary: a null byte at offset {raw.index(0) + skipped}", _SAVE)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding[:6].upper().rstrip("-")
        raise FormatError(f"the file is not {name}: byte at offset {error.start + skipped}", _SAVE) from error
    if "\0" in text:
        raise FormatError(f"the file is binary: a null character at position {text.index(chr(0))}", _SAVE)
    return text
