"""Secrets are found, masked whole at equal length, and look-alikes stay readable."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message
from hybrid.stages import secrets

POSITIVE = [
    ("my key is sk-proj-{alnum48} if you need it", "sk-proj-{alnum48}"),
    ("push with ghp_{alnum36}, thanks", "ghp_{alnum36}"),
    ("token eyJ{alnum20}.eyJ{alnum40}.{alnum43} expires soon", "eyJ{alnum20}.eyJ{alnum40}.{alnum43}"),
    ("postgres://shop:{alnum14}@db.example.com/shop", "{alnum14}"),
    ("sshpass -p {alnum12} ssh pi@garden", "{alnum12}"),
    ("mysql -u root -p{alnum12} shop", "{alnum12}"),
    ("curl -u nadia:{alnum12} https://example.com", "{alnum12}"),
    ("By the way, the wifi password is meadow{digits4}.", "meadow{digits4}"),
    ("My PIN is {digits4}, don't tell anyone", "{digits4}"),
    ("the garage code is {digits4}", "{digits4}"),
    ("Your verification code is {digits6}.", "{digits6}"),
    ('"api_key": "{hex32}"', "{hex32}"),
    ("export SHOP_TOKEN={alnum24}", "{alnum24}"),
    ("Authorization: Bearer {alnum40}", "{alnum40}"),
    ("https://example.com/feed?access_token={hex32}&page=2", "{hex32}"),
    ("https://hooks.slack.com/services/T{upper8}/B{upper8}/{alnum24}", "{alnum24}"),
    ("AKIA{upper16}", "AKIA{upper16}"),
    ("-----BEGIN EC PRIVATE KEY-----\n{alnum64}\n{alnum64}\n-----END EC PRIVATE KEY-----", "{alnum64}\n{alnum64}"),
    (
        "wallet seed phrase: copper lantern walnut drift meadow saddle orbit velvet cactus ribbon harbor puzzle",
        "copper lantern walnut drift meadow saddle orbit velvet cactus ribbon harbor puzzle",
    ),
]

NEGATIVE = [
    "I forgot my password again and had to reset it.",
    "The token budget is 4096 for each call.",
    "A password manager is great for that.",
    "My password is too weak, I know.",
    "It was fixed in commit {hex40} yesterday.",
    "The request id is 3f2504e0-4f89-11d3-9a0c-0305e82c3301.",
    "See getUserAuthenticationTokenFromSessionStorageProvider in the code.",
    "The config is in /usr/local/share/applications/config/settings.json.",
    "sha512-{alnum64}{alnum20}== is in the lock file.",
    "The ISBN is 978-3-16-148410-0 and the order number is 114-7762910-2231455.",
    "Call me on +44 20 7946 0958 after six.",
    "Our risk-based approach to planning worked.",
    "The secret ingredient is cinnamon, always.",
    "The key to a good garden is water.",
    "She gave me a gift token for the bookshop.",
    "The zip code is 90210 and error code 404 came up.",
    "Pin the note to the wall at 1830 please.",
]


@pytest.mark.parametrize(("template", "value"), POSITIVE)
def test_a_secret_is_masked_whole(template: str, value: str) -> None:
    text = secrets.fill(template)
    start = len(secrets.fill(template[: template.index(value)]))
    found = secrets.find_secrets(text)
    masked = secrets.mask(text, found)
    length = len(secrets.fill(value))
    assert len(masked) == len(text)
    assert found
    assert set(masked[start : start + length]) <= {secrets.MASK, "\n"}


@pytest.mark.parametrize("template", NEGATIVE)
def test_a_look_alike_stays_readable(template: str) -> None:
    assert secrets.find_secrets(secrets.fill(template)) == []


@pytest.mark.parametrize("template", [template for template, _ in POSITIVE])
def test_secrets_are_sorted_and_do_not_overlap(template: str) -> None:
    found = secrets.find_secrets(secrets.fill(template + " and " + template))
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(0 <= s.start < s.end for s in found)


@pytest.mark.parametrize("proof", rules.prove(rules.load("secrets"), secrets.matches), ids=lambda p: f"{p.rule}:{p.expected}")
def test_each_rule_does_what_its_examples_ask(proof: rules.Proof) -> None:
    assert proof.passed, proof.example


def test_line_breaks_survive_the_mask() -> None:
    text = secrets.fill("a\n-----BEGIN PRIVATE KEY-----\n{alnum64}\n-----END PRIVATE KEY-----\nb")
    masked = secrets.mask(text, secrets.find_secrets(text))
    assert [i for i, c in enumerate(masked) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert masked.startswith("a\n")
    assert masked.endswith("\nb")


def test_run_masks_texts_names_source_and_notes() -> None:
    key = secrets.fill("ghp_{alnum36}")
    message = Message("user", f"use {key}", speaker=f"Ines {key}", time=datetime(2024, 3, 1), session=key)
    conversation = Conversation((message,), participants=(f"Ines {key}",), source=f"/tmp/{key}.txt", notes=(key,))
    document = secrets.run(Document(conversation), Settings())
    assert key not in repr(document)
    assert [s.message for s in document.secrets] == [0]
    assert len(document.conversation.turns[0].text) == len(message.text)


def test_run_keeps_a_conversation_without_secrets() -> None:
    conversation = Conversation((Message("user", "We planted tulips."),))
    assert secrets.run(Document(conversation), Settings()).conversation == conversation


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_masked_at_equal_length(text: str) -> None:
    assert len(secrets.mask(text, secrets.find_secrets(text))) == len(text)
