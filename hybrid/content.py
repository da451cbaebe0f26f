"""Find rules/, models/ and prompts/: in a user's own folder, a checkout, or a wheel."""

from __future__ import annotations

import os
from pathlib import Path

from hybrid.errors import ContentError

KINDS = ("rules", "models", "prompts")
_PACKAGE = Path(__file__).resolve().parent


def folders(kind: str) -> tuple[Path, ...]:
    """Return the folders that hold this kind of content, the user's own first.

    The user's own is `$HYBRID_CONTENT/<kind>`. Raises ContentError where the shipped folder is missing.
    """
    if kind not in KINDS:
        raise ContentError(f"no content of kind {kind!r}", f"allowed: {', '.join(KINDS)}")
    shipped = next((path for path in (_PACKAGE / "_content" / kind, _PACKAGE.parent / kind) if path.is_dir()), None)
    if shipped is None:
        raise ContentError(f"the folder {kind}/ is missing from the installation", "install hybrid-extractor again")
    own = os.environ.get("HYBRID_CONTENT")
    mine = Path(own).expanduser() / kind if own else None
    return (mine, shipped) if mine is not None and mine.is_dir() else (shipped,)


def find(kind: str, name: str) -> Path:
    """Return the file of this name, the user's own before the shipped one. Raises ContentError when there is none."""
    for folder in folders(kind):
        if (folder / name).is_file():
            return folder / name
    raise ContentError(f"{kind}/{name} does not exist", f"looked in: {', '.join(str(f) for f in folders(kind))}")


def listing(kind: str, pattern: str) -> tuple[Path, ...]:
    """Return the files that match, one for each name, the user's own before the shipped one, sorted by name."""
    found: dict[str, Path] = {}
    for folder in folders(kind):
        for path in folder.glob(pattern):
            found.setdefault(path.name, path)
    return tuple(found[name] for name in sorted(found))
