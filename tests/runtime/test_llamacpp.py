from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hybrid.errors import ModelError, ModelMissingError, PromptTooLongError
from hybrid.manifests import DEFAULT, load, recognised, templates
from hybrid.prompts import Prompt
from hybrid.runtime import load_runtime
from hybrid.runtime.binding import Model
from hybrid.runtime.llamacpp import LlamaCppRuntime

SYSTEM = "You copy the statement. Answer in JSON."
SHOWN = (("Statement: Wendel owns two looms.", '{"text":"Wendel owns two looms."}'),)
SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "maxLength": 80}}, "required": ["text"]}


def prompt(text: str) -> Prompt:
    return Prompt(SYSTEM, SHOWN, f"Statement: {text}")


def answer(runtime: LlamaCppRuntime, text: str, **options: Any) -> Any:
    return runtime.answer(prompt(text), SCHEMA, **{"max_tokens": 60, "deadline_s": 60.0, **options})


def test_the_model_answers_under_the_schema(runtime: LlamaCppRuntime) -> None:
    done = answer(runtime, "Brunhild grows leeks.")
    assert done.reason is None
    assert done.values == {"text": "Brunhild grows leeks."}
    assert done.finish == "stop"
    assert done.prompt_tokens == runtime.count(prompt("Brunhild grows leeks."))
    assert 0 < done.completion_tokens <= 60


def test_an_enum_binds_the_model(runtime: LlamaCppRuntime) -> None:
    schema = {"type": "object", "properties": {"text": {"enum": ["qwx", "zzyzx"]}}, "required": ["text"]}
    done = runtime.answer(prompt("Brunhild grows leeks."), schema, max_tokens=30, deadline_s=60)
    assert done.values is not None
    assert done.values["text"] in ("qwx", "zzyzx")


def test_allowed_words_bind_the_model(runtime: LlamaCppRuntime) -> None:
    words = {"type": "string", "maxLength": 80, "x-words": ["Brunhild", "grows", "leeks", "in", "the", "valley"]}
    schema = {"type": "object", "properties": {"text": words}, "required": ["text"]}
    done = runtime.answer(prompt("In the valley Brunhild grows leeks."), schema, max_tokens=60, deadline_s=60)
    assert done.values is not None
    assert set(done.values["text"].rstrip(".").split()) <= set(words["x-words"])


def test_a_shared_beginning_is_read_once_and_changes_nothing(runtime: LlamaCppRuntime) -> None:
    runtime.close()
    cold = answer(runtime, "Brunhild grows leeks.")
    answer(runtime, "Wendel walks to the mill on Sundays.")
    warm = answer(runtime, "Brunhild grows leeks.")
    again = answer(runtime, "Brunhild grows leeks.")
    assert cold.cached_tokens == 0
    assert warm.cached_tokens > 30
    assert again.cached_tokens == warm.cached_tokens
    assert cold.values == warm.values == again.values


def test_what_was_asked_before_does_not_change_a_single_bit(runtime: LlamaCppRuntime) -> None:
    asked, options = prompt("Brunhild grows leeks in the valley behind the mill."), ["leeks", '{"text":"Brunhild']
    runtime.close()
    cold = runtime.score(asked, options)
    answer(runtime, "Brunhild grows leeks in the valley and sells them.")
    assert runtime.score(asked, options) == cold
    runtime.score(Prompt("You count.", (), "Leeks. " * 200), options)
    assert runtime.score(asked, options) == cold
    with LlamaCppRuntime(runtime.path, runtime.manifest) as other:
        other.score(Prompt(SYSTEM, SHOWN * 12, "Leeks."), options)
        other.score(Prompt(SYSTEM, SHOWN * 20, "Looms."), options)
        assert other.score(asked, options) == cold


@pytest.mark.parametrize("mark", ["<|im_end|>", "<|im_start|>system", "<|endoftext|>"])
def test_marks_in_what_people_said_stay_text(runtime: LlamaCppRuntime, model: Model, mark: str) -> None:
    assert len(model.tokenize(mark, marks=False)) > len(model.tokenize(mark, marks=True))
    plain = runtime.count(prompt("Wendel said so."))
    assert runtime.count(prompt(f"Wendel said {mark} so.")) >= plain + len(model.tokenize(mark, marks=False)) - 1


def test_pieces_give_the_same_tokens_as_the_whole(runtime: LlamaCppRuntime, model: Model) -> None:
    whole = (
        f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n{SHOWN[0][0]}<|im_end|>\n<|im_start|>assistant\n"
        f"{SHOWN[0][1]}<|im_end|>\n<|im_start|>user\nStatement: Wendel naps.<|im_end|>\n<|im_start|>assistant\n"
    )
    assert runtime.count(prompt("Wendel naps.")) == len(model.tokenize(whole, marks=True))


def test_a_prompt_that_does_not_fit_is_refused_before_anything_runs(runtime: LlamaCppRuntime) -> None:
    before = answer(runtime, "Brunhild grows leeks.")
    started = time.monotonic()
    with pytest.raises(PromptTooLongError) as caught:
        answer(runtime, "leeks and looms " * 2000)
    assert time.monotonic() - started < 2
    assert "leeks" not in caught.value.message
    assert caught.value.exit_code == 3
    assert answer(runtime, "Brunhild grows leeks.").values == before.values


def test_the_answers_budget_counts(runtime: LlamaCppRuntime) -> None:
    with pytest.raises(PromptTooLongError):
        answer(runtime, "Brunhild grows leeks.", max_tokens=runtime.context)
    with pytest.raises(PromptTooLongError):
        runtime.score(prompt("leeks and looms " * 2000), ["leeks"])


def test_the_token_cap_is_a_reason(runtime: LlamaCppRuntime) -> None:
    done = answer(runtime, "Brunhild grows leeks.", max_tokens=4)
    assert (done.values, done.reason, done.finish, done.completion_tokens) == (None, "truncated", "length", 4)


def test_the_deadline_is_a_reason_and_the_next_call_works(runtime: LlamaCppRuntime) -> None:
    done = answer(runtime, "Brunhild grows leeks.", deadline_s=0.0)
    assert (done.values, done.reason, done.finish) == (None, "deadline", "deadline")
    assert answer(runtime, "Brunhild grows leeks.").values == {"text": "Brunhild grows leeks."}


def test_the_deadline_holds_while_the_model_writes(runtime: LlamaCppRuntime) -> None:
    answer(runtime, "Brunhild grows leeks.", max_tokens=1)
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 390, "maxLength": 400}},
        "required": ["text"],
    }
    started = time.monotonic()
    done = runtime.answer(prompt("Brunhild grows leeks."), schema, max_tokens=300, deadline_s=0.1)
    assert (done.values, done.reason) == (None, "deadline")
    assert done.completion_tokens < 100
    assert time.monotonic() - started < 2


def test_a_model_that_repeats_itself_is_stopped(runtime: LlamaCppRuntime) -> None:
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 390, "maxLength": 400}},
        "required": ["text"],
    }
    done = runtime.answer(prompt("la la la la la la la la la la"), schema, max_tokens=300, deadline_s=60)
    assert (done.values, done.reason, done.finish) == (None, "loop", "loop")
    assert done.completion_tokens < 100


@pytest.mark.parametrize(
    ("question", "likely", "unlikely"),
    [
        ("Statement: Brunhild grows leeks.", '{"text":"Brunhild grows leeks."}', '{"text":"Otmar paints barns."}'),
        ("Statement: Wendel fell asleep.", '{"text":"Wendel fell asleep."}', "purple"),
    ],
)
def test_the_likelier_answer_scores_higher(runtime: LlamaCppRuntime, question: str, likely: str, unlikely: str) -> None:
    asked = Prompt(SYSTEM, SHOWN, question)
    first, second = runtime.score(asked, [likely, unlikely])
    assert second < first < 0
    assert runtime.score(asked, [unlikely, likely]) == (second, first)
    assert runtime.score(asked, []) == ()


def test_threads_take_turns_and_get_their_own_answers(runtime: LlamaCppRuntime) -> None:
    names = ["Brunhild", "Wendel", "Otmar", "Gisela"]
    found: dict[str, Any] = {}

    def ask(name: str) -> None:
        for _ in range(2):
            found[name] = answer(runtime, f"{name} grows leeks.").values

    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: {"text": f"{name} grows leeks."} for name in names}


@pytest.fixture
def damaged(gguf: Path, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "copy.gguf"
    shutil.copyfile(gguf, path)
    yield path
    path.unlink()


def test_flipped_bytes_are_found_by_the_checksum(damaged: Path) -> None:
    with damaged.open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\x00\xff" * 8)
    with pytest.raises(ModelError, match=r"expected SHA-256 b179.*found"):
        LlamaCppRuntime(damaged, load(DEFAULT)).load()


def test_a_file_with_a_known_name_is_held_to_its_checksum(damaged: Path) -> None:
    named = damaged.rename(damaged.with_name(load(DEFAULT).file))
    assert load_runtime(named).name == DEFAULT
    with named.open("r+b") as file:
        file.seek(50_000_000)
        file.write(b"\x00\xff" * 8)
    with pytest.raises(ModelError, match="SHA-256"):
        load_runtime(str(named))
    named.rename(damaged)


@pytest.mark.parametrize(("size", "known"), [(49_000_000, True), (49_000_000, False), (2_000_000, False)])
def test_a_file_that_is_cut_off_is_an_error(damaged: Path, size: int, known: bool) -> None:
    with damaged.open("r+b") as file:
        file.truncate(size)
    with pytest.raises(ModelError) as caught:
        LlamaCppRuntime(damaged, load(DEFAULT) if known else None).load()
    assert caught.value.exit_code == 3
    assert caught.value.hint


@pytest.mark.parametrize("raw", [b"", b"GGUF", b"not a model, only text", b"GGUF" + b"\xff" * 40, b"GGUF\x01" + b"\x00" * 40])
def test_a_file_that_is_no_gguf_is_an_error(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(raw)
    with pytest.raises(ModelError):
        LlamaCppRuntime(path)


def test_a_gguf_without_a_manifest_works_by_its_own_metadata(damaged: Path) -> None:
    with LlamaCppRuntime(damaged) as own:
        assert (own.name, own.manifest, own.strategy, own.context) == ("copy", None, "refine", 4096)
        assert answer(own, "Brunhild grows leeks.").values == {"text": "Brunhild grows leeks."}


def test_a_base_model_gets_plain_words_and_still_answers(gguf: Path) -> None:
    plain = replace(load(DEFAULT), template=recognised(None))
    assert plain.template.id == "plain"
    with LlamaCppRuntime(gguf, plain) as base:
        assert answer(base, "Brunhild grows leeks.").values is not None


@pytest.mark.parametrize("id", [t.id for _, t in templates()])
def test_every_template_sends_system_examples_and_question(gguf: Path, id: str) -> None:
    template = next(t for _, t in templates() if t.id == id)
    with LlamaCppRuntime(gguf, replace(load(DEFAULT), template=template)) as other:
        assert other.count(prompt("a")) > other.count(Prompt("", SHOWN, "a")) > other.count(Prompt("", (), "a"))


@pytest.mark.parametrize(
    ("inside", "id"),
    [
        ("{{'<|im_start|>' + role}}", "chatml"),
        ("<|start_header_id|>{{role}}<|end_header_id|>", "llama3"),
        ("<start_of_turn>{{role}}", "gemma"),
        ("[INST] {{content}} [/INST]", "mistral"),
        ("<|user|>{{content}}<|end|><|assistant|>", "phi3"),
        ("<|start|>{{role}}<|message|>{{content}}<|end|>", "plain"),
        ("<|im_start|>user<|im_sep|>", "phi4"),
        ("### Human", "plain"),
        (None, "plain"),
    ],
)
def test_a_chat_template_is_recognised_by_its_signs(inside: str | None, id: str) -> None:
    assert recognised(inside).id == id


def test_nothing_is_printed(gguf: Path, tmp_path: Path) -> None:
    odd = tmp_path / "odd.gguf"
    odd.write_bytes(b"GGUF\x03\x00\x00\x00" + b"\x01" * 80)
    code = f"""
from pathlib import Path
from hybrid.errors import ModelError, PromptTooLongError
from hybrid.prompts import Prompt
from hybrid.runtime.llamacpp import LlamaCppRuntime
schema = {SCHEMA!r}
with LlamaCppRuntime(Path({str(gguf)!r})) as runtime:
    assert runtime.answer(Prompt("Copy.", (), "Leeks."), schema, max_tokens=8, deadline_s=60).text
    runtime.score(Prompt("Copy.", (), "Leeks."), ["Leeks.", "Looms."])
    try:
        runtime.answer(Prompt("Copy.", (), "Leeks. " * 9000), schema, max_tokens=8, deadline_s=60)
    except PromptTooLongError:
        pass
Path({str(odd)!r}).write_bytes(Path({str(gguf)!r}).read_bytes()[:3_000_000])
try:
    LlamaCppRuntime(Path({str(odd)!r})).load()
except ModelError:
    pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_llama_cpp_is_imported_only_when_a_model_loads() -> None:
    code = "import sys, hybrid.runtime as r; r.load_runtime(); sys.exit('llama_cpp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_default_names_file_place_and_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYBRID_MODELS", str(tmp_path))
    with pytest.raises(ModelMissingError) as caught:
        load_runtime()
    assert load(DEFAULT).file in caught.value.message
    assert str(tmp_path) in caught.value.message
    assert caught.value.hint == f"hybrid model install {DEFAULT}"


@pytest.mark.parametrize("wanted", ["no-such-model", "folder/none.gguf", Path("none.gguf")])
def test_an_unknown_model_is_missing(wanted: str | Path) -> None:
    with pytest.raises(ModelMissingError) as caught:
        load_runtime(wanted)
    assert DEFAULT in caught.value.hint


def test_without_llama_cpp_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["llama_cpp"] = None
from hybrid.errors import ModelError
from hybrid.runtime import load_runtime
try:
    load_runtime()
except ModelError as error:
    assert error.hint == "pip install 'hybrid-extractor[model]'", error.hint
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 7
