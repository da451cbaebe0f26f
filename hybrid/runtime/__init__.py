"""Models in process: `load_runtime` finds one by id or path."""

from __future__ import annotations

from pathlib import Path

from hybrid import manifests
from hybrid.errors import ModelMissingError
from hybrid.runtime.binding import check_library
from hybrid.runtime.llamacpp import LlamaCppRuntime
from hybrid.runtime.runtime import Completion, Runtime

__all__ = ["Completion", "LlamaCppRuntime", "Runtime", "load_runtime"]


def load_runtime(model: str | Path | None = None) -> LlamaCppRuntime:
    """Return a runtime for a manifest's id, for the path of any GGUF file, or without either for the default model.

    The file is found and its checksum compared at once; the model itself is loaded when it is first needed. A file that
    bears the name of a known model is held to that model's checksum. Raises ModelMissingError, which names the file, where
    it is expected and the command that brings it, and ModelError for a file that is damaged or cannot be used.
    """
    known = {manifest.id: manifest for manifest in manifests.all_manifests()}
    wanted = manifests.DEFAULT if model is None else model
    if isinstance(wanted, str) and wanted in known:
        manifest: manifests.Manifest | None = known[wanted]
        path = manifests.locate(known[wanted])
        if path is None:
            raise manifests.missing(known[wanted])
    else:
        path = Path(wanted).expanduser()
        if not path.is_file():
            hint = f"give the path of a GGUF file, or one of: {', '.join(known)}; hybrid model install {manifests.DEFAULT}"
            raise ModelMissingError(f"no model file at {path}", hint)
        manifest = next((m for m in known.values() if m.file == path.name), None)
    if manifest is not None:
        manifests.verify(path, manifest, cached=True)
    check_library()
    return LlamaCppRuntime(path, manifest)
