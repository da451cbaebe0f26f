"""One GGUF in memory, through llama.cpp's own C functions.

The high-level object of llama-cpp-python is not used: it points the process's standard output and error at nothing while a
model loads, and keeps arrays of logits that nobody reads.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import struct
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hybrid.errors import GrammarError, ModelError
from hybrid.manifests import ModelSettings
from hybrid.runtime.pace import Pace

_INSTALL = "pip install 'hybrid-extractor[model]'"
_MOST_METADATA = 100_000
_FIRST_CANDIDATES = (64, 2048)


def check_library() -> None:
    """Raise ModelError where llama-cpp-python is not installed; it is not imported yet."""
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelError("llama-cpp-python is not installed", _INSTALL)


def check_header(path: Path) -> None:
    """Raise ModelError unless the file begins as a GGUF does: magic, a known version, sensible counts."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", "give the path of a GGUF file") from error
    if head[:4] != b"GGUF":
        raise ModelError(f"{path} is not a GGUF file", "a GGUF file begins with the letters GGUF")
    if len(head) < 24:
        raise ModelError(f"{path} is cut off", "fetch the file again")
    version, tensors, keys = struct.unpack("<IQQ", head[4:])
    if version not in (2, 3) or tensors > _MOST_METADATA or keys > _MOST_METADATA:
        raise ModelError(f"{path} is damaged, or of a version that is not known: {version}", "versions 2 and 3 are known")


class Model:
    """Hold a loaded model and its one context; not safe for parallel calls."""

    def __init__(self, path: Path, context: int | None, most: int, settings: ModelSettings) -> None:
        """Load the file; without `context`, take what the model was trained for, `most` tokens at most."""
        self._lib = _library()
        self._path = path
        parameters = self._lib.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self._model = self._lib.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self._model:
            raise ModelError(f"llama.cpp could not load {path}", "the file is damaged or of a kind it does not know")
        free = _Freed(self._lib, self._model)
        self._free = weakref.finalize(self, free)
        self._vocab = self._lib.llama_model_get_vocab(self._model)
        self.size = int(self._lib.llama_vocab_n_tokens(self._vocab))
        if (
            not self._lib.llama_model_has_decoder(self._model)
            or self._lib.llama_model_has_encoder(self._model)
            or not self.size
        ):
            self.close()
            raise ModelError(f"{path} is not a model that writes text", "give a model for text generation")
        self.context = context or min(most, int(self._lib.llama_model_n_ctx_train(self._model)))
        self._batch_size = min(settings.n_batch, self.context)
        self._pace = Pace(max(1, min(settings.n_threads, _cores())))
        self._context = self._lib.llama_init_from_model(self._model, self._parameters(settings))
        if not self._context:
            self.close()
            raise ModelError(f"llama.cpp could not make a context of {self.context} tokens", "memory may be short")
        free.context = self._context
        self._memory = self._lib.llama_get_memory(self._context)
        self._batch = free.batch = self._lib.llama_batch_init(self._batch_size, 0, 1)
        self._held: list[int] = []
        self._cuts: list[int] = []

    def _parameters(self, settings: ModelSettings) -> Any:
        parameters = self._lib.llama_context_default_params()
        parameters.n_ctx = self.context
        parameters.n_batch = parameters.n_ubatch = self._batch_size
        parameters.n_threads = parameters.n_threads_batch = self._pace.threads
        on, off = self._lib.LLAMA_FLASH_ATTN_TYPE_ENABLED, self._lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
        parameters.flash_attn_type = on if settings.flash_attn else off
        parameters.no_perf = True
        return parameters

    def close(self) -> None:
        """Free the model; a second call does nothing."""
        self._free()

    @property
    def chat_template(self) -> str | None:
        """Return the chat template inside the file; None for a base model."""
        buffer = ctypes.create_string_buffer(1 << 17)
        length = self._lib.llama_model_meta_val_str(self._model, b"tokenizer.chat_template", buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if length >= 0 else None

    @property
    def opening(self) -> tuple[int, ...]:
        """Return the token that begins every text of this model, where it wants one."""
        wants = self._lib.llama_vocab_get_add_bos(self._vocab)
        return (int(self._lib.llama_vocab_bos(self._vocab)),) if wants else ()

    def tokenize(self, text: str, *, marks: bool) -> list[int]:
        """Return the tokens of a text; only with `marks` does text that looks like a control token become one."""
        raw = text.encode("utf-8", "replace")
        room = len(raw) + 8
        buffer = (self._lib.llama_token * room)()
        count = self._lib.llama_tokenize(self._vocab, raw, len(raw), buffer, room, False, marks)
        if count < 0:
            raise ModelError("llama.cpp could not tokenise a text", "the model's vocabulary may be damaged")
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """Return the bytes a token writes; none for a control token."""
        buffer = ctypes.create_string_buffer(512)
        count = self._lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(0, count)]

    def ends(self, token: int) -> bool:
        """Say whether a token ends the model's turn."""
        return bool(self._lib.llama_vocab_is_eog(self._vocab, token))

    def hold(self, tokens: Sequence[int], border: int) -> int:
        """Keep what the context holds of the first `border` tokens, drop the rest, and return how many were kept.

        Only tokens are kept whose batches were cut as they would be cut anew: logits depend a little on where batches begin,
        and an answer may not depend on the questions before it.
        """
        common = 0
        for mine, wanted in zip(self._held, tokens[:border], strict=False):
            if mine != wanted:
                break
            common += 1
        whole = range(common - common % self._batch_size, 0, -self._batch_size)
        lengths = [border, *whole] if common == border else whole
        return self.rewind(next((length for length in lengths if self._cut_as_anew(length)), 0))

    def rewind(self, length: int) -> int:
        """Drop what stands behind the first `length` tokens, and return how many are left."""
        if not self._lib.llama_memory_seq_rm(self._memory, 0, length, -1):
            # Models with a state instead of a cache cannot go back; they begin again.
            self._lib.llama_memory_clear(self._memory, True)
            length = 0
        del self._held[length:]
        self._cuts = [cut for cut in self._cuts if cut <= length]
        return length

    def _cut_as_anew(self, length: int) -> bool:
        return [cut for cut in self._cuts if cut <= length] == [*range(self._batch_size, length, self._batch_size), length]

    def batches(self, tokens: Sequence[int], *, every: bool = False) -> Iterator[int]:
        """Evaluate tokens behind what is held, and yield after each batch how many it had.

        `logits` then reads the batch's last row, or with `every` any row of it.
        """
        for start in range(0, len(tokens), self._batch_size):
            part = tokens[start : start + self._batch_size]
            self._decode(part, every)
            yield len(part)

    def _decode(self, tokens: Sequence[int], every: bool) -> None:
        batch, place = self._batch, len(self._held)
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = place + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = every or index == len(tokens) - 1
        before = self._pace.threads
        wall, used = time.perf_counter(), time.process_time()
        code = self._lib.llama_decode(self._context, batch)
        threads = self._pace.note(time.perf_counter() - wall, time.process_time() - used)
        if threads != before:
            self._lib.llama_set_n_threads(self._context, threads, threads)
        if code != 0:
            self._lib.llama_memory_clear(self._memory, True)
            self._held.clear()
            self._cuts.clear()
            raise ModelError(f"llama.cpp could not evaluate {len(tokens)} tokens (code {code})", "the context was cleared")
        self._held.extend(tokens)
        self._cuts.append(len(self._held))

    def logits(self, row: int = -1) -> Any:
        """Return a row of logits as a numpy array that is valid until the next batch."""
        import numpy

        pointer = self._lib.llama_get_logits_ith(self._context, row)
        if not pointer:
            raise ModelError("llama.cpp gave no logits", "the model may not be one that writes text")
        return numpy.ctypeslib.as_array(pointer, shape=(self.size,))

    @contextmanager
    def constraint(self, grammar: str) -> Iterator[Constraint]:
        """Compile a grammar for one answer. Raises GrammarError where llama.cpp refuses it."""
        sampler = self._lib.llama_sampler_init_grammar(self._vocab, grammar.encode(), b"root")
        if not sampler:
            raise GrammarError("llama.cpp refuses the grammar", "make the schema smaller")
        try:
            yield Constraint(self._lib, sampler)
        finally:
            self._lib.llama_sampler_free(sampler)


class Constraint:
    """Hold a grammar and how far an answer has come in it."""

    def __init__(self, lib: Any, sampler: Any) -> None:
        self._lib = lib
        self._sampler = sampler

    def best(self, logits: Any) -> int | None:
        """Return the likeliest token that the grammar admits next; None where none fits."""
        import numpy

        first = int(logits.argmax())
        if self._admitted([first]):
            return first
        for size in (*_FIRST_CANDIDATES, len(logits)):
            # Testing the whole vocabulary costs more than the model; the likeliest tokens nearly always hold one that fits.
            likely = numpy.argpartition(logits, -size)[-size:] if size < len(logits) else numpy.arange(len(logits))
            admitted = self._admitted([int(token) for token in likely])
            if admitted:
                return max(admitted, key=lambda token: (float(logits[token]), -token))
        return None

    def admits(self, token: int) -> bool:
        """Say whether the grammar admits this token next."""
        return bool(self._admitted([token]))

    def accept(self, token: int) -> None:
        """Move on past a token that `best` gave or `admits` allowed."""
        self._lib.llama_sampler_accept(self._sampler, token)

    def _admitted(self, tokens: Sequence[int]) -> list[int]:
        data = (self._lib.llama_token_data * len(tokens))(*((token, 0.0, 0.0) for token in tokens))
        array = self._lib.llama_token_data_array(data, len(tokens), -1, False)
        self._lib.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return [entry.id for entry in array.data[: array.size] if entry.logit > float("-inf")]


class _Freed:
    """Free what was made, in the order llama.cpp needs; knows nothing of the Model that it outlives."""

    def __init__(self, lib: Any, model: Any) -> None:
        self._lib = lib
        self._model = model
        self.context: Any = None
        self.batch: Any = None

    def __call__(self) -> None:
        if self.batch is not None:
            self._lib.llama_batch_free(self.batch)
        if self.context is not None:
            self._lib.llama_free(self.context)
        self._lib.llama_model_free(self._model)


def _cores() -> int:
    # An affinity mask (containers, taskset) counts where the system knows one.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _library() -> Any:
    """Return llama.cpp's functions, silenced for the whole process. Raises ModelError where it is not installed."""
    try:
        from llama_cpp import llama_cpp as lib
    except (ImportError, OSError, RuntimeError) as error:
        raise ModelError(f"llama-cpp-python cannot be imported: {type(error).__name__}", _INSTALL) from error
    _silence(lib)
    lib.llama_backend_init()
    return lib


@functools.cache
def _silence(lib: Any) -> Any:
    # The callback is kept by the cache: llama.cpp calls it as long as the process lives.
    callback = lib.llama_log_callback(lambda level, text, data: None)
    lib.llama_log_set(callback, ctypes.c_void_p(0))
    return callback
