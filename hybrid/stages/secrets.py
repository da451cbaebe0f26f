"""Find credentials and mask them at equal length, before anything else sees the text."""

from __future__ import annotations

import functools
import hashlib
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import regex

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message, Secret

MASK: Final = "█"
_STAGE: Final = "secrets"
_TEMPLATE: Final = regex.compile(
    r"^[$<{%\[]|^\*+$|^\.+$|[{}<>]|\$\{|^(?:your|my|insert|enter|put|some|the)[-_ ]|^(?:x+|y+|0+|█+|null|none|nil"
    r"|true|false|undefined|string|str|int|bool|env|required|optional|hidden|redacted|masked|placeholder|changeit)$"
    r"|^(?:process|os|env|self|this|config|settings|request|req|args|options"
    r"|params|secrets|vars|var|data|local|module|ctx|System)[.\[(]|\w\(|^[A-Za-z_]+(?:\.[A-Za-z_]+)+$|^https?://[^\s?]*$",
    regex.IGNORECASE,
)
_UUID: Final = regex.compile(r"^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", regex.IGNORECASE)
_INTEGRITY: Final = regex.compile(r"^sha(?:1|256|384|512)[-:]", regex.IGNORECASE)
_LABELLED: Final = regex.compile(
    r"\b(?:ids?|sheets?|commit|hash|sha\d*|checksum|digest|order|tracking|isbn|uuid|guid|invoice|ticket|path|file|folder|url|link|version|model"
    r"|class|function|variable|branch|serial|reference|booking)\b[\s:=#\"'(`]*(?:is|was|number|no\.?|:|=)?[\s:=#\"'(`]*$",
    regex.IGNORECASE,
)
_CREDENTIAL_CONTEXT: Final = regex.compile(
    r"(?:secret|token|credential|passw|api.?key|\bkeys?\b|auth|login|config|\.env|bearer|webhook|sign(?:ing|ature))",
    regex.IGNORECASE,
)
_CANDIDATE: Final = regex.compile(r"(?<![\w+/=.@:-])[A-Za-z0-9+/_=-]{20,}(?![\w@]|\.\w|://)")
_LONG: Final = regex.compile(r"[^\s]{15,}")
_WORD_LIKE: Final = regex.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}(?![a-z])")
_PLACEHOLDER: Final = regex.compile(r"\{(hex|alnum|upper|digits)(\d{1,3})\}")
_ALPHABETS: Final = {
    "hex": "0123456789abcdef",
    "alnum": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "digits": "0123456789",
}
_MIN_ENTROPY: Final = 3.0
_MIN_ENTROPY_ALONE: Final = 4.0


def find_secrets(text: str) -> list[Secret]:
    """Return the credentials in a text, sorted, without overlap; offsets and kinds only, never a value."""
    lowered = text.lower()
    found = [
        Secret(start, end, str(rule.values["kind"]))
        for rule in rules.load(_STAGE).rules
        if _may_match(rule, lowered)
        for start, end in _spans(rule, text)
    ]
    if _LONG.search(text) is not None:
        found.extend(_entropy(text))
        found.extend(_structural(text))
    return [_ended(secret, text) for secret in _merged(found)]


def _ended(secret: Secret, text: str) -> Secret:
    """Leave a full stop to its sentence: it belongs to no credential."""
    stop = secret.end - secret.start > 4 and text[secret.end - 1] == "." and not text[secret.end : secret.end + 1].strip()
    return replace(secret, end=secret.end - 1) if stop else secret


def matches(rule: rules.Rule, text: str) -> bool:
    """Say whether a rule finds a secret in an example; placeholders such as `{hex32}` are filled first."""
    filled = fill(text)
    return _may_match(rule, filled.lower()) and next(_spans(rule, filled), None) is not None


def fill(text: str) -> str:
    """Return the text with placeholders (`{hex32}`, `{alnum36}`, `{upper16}`, `{digits4}`) filled with invented values."""

    def invented(match: regex.Match[str]) -> str:
        alphabet, length = _ALPHABETS[match.group(1)], int(match.group(2))
        stream = b"".join(hashlib.sha256(f"{match.start()}:{block}".encode()).digest() for block in range(length // 32 + 1))
        return "".join(alphabet[byte % len(alphabet)] for byte in stream[:length])

    return str(_PLACEHOLDER.sub(invented, text))


def mask(text: str, secrets: list[Secret]) -> str:
    """Return the text with the secrets replaced at equal length; line breaks stay."""
    pieces, at = [], 0
    for secret in secrets:
        pieces.append(text[at : secret.start])
        pieces.append("".join(c if c in "\r\n" else MASK for c in text[secret.start : secret.end]))
        at = secret.end
    return "".join((*pieces, text[at:]))


def run(document: Document, settings: Settings) -> Document:
    """Return the document with its conversation masked: texts, names, sessions, source and notes."""
    conversation = document.conversation
    messages: list[Message] = []
    secrets: list[Secret] = []
    for index, message in enumerate(conversation.turns):
        found = find_secrets(message.text)
        secrets.extend(replace(secret, message=index) for secret in found)
        changes: dict[str, Any] = {"text": mask(message.text, found)} if found else {}
        for name in ("speaker", "session"):
            value = getattr(message, name)
            if value and (masked := _masked(value)) != value:
                changes[name] = masked
        messages.append(replace(message, **changes) if changes else message)
    return replace(document, conversation=_masked_conversation(conversation, tuple(messages)), secrets=tuple(secrets))


def _masked_conversation(conversation: Conversation, messages: tuple[Message, ...]) -> Conversation:
    return replace(
        conversation,
        turns=messages,
        participants=tuple(_masked(name) for name in conversation.participants),
        source=_masked(conversation.source) if conversation.source else conversation.source,
        notes=tuple(_masked(note) for note in conversation.notes),
    )


@functools.lru_cache(maxsize=1024)
def _masked(text: str) -> str:
    return mask(text, find_secrets(text))


def _may_match(rule: rules.Rule, lowered: str) -> bool:
    keywords = rule.values.get("keywords")
    return not keywords or any(keyword in lowered for keyword in keywords)


def _spans(rule: rules.Rule, text: str) -> Iterator[tuple[int, int]]:
    filters = rule.values.get("filter", ())
    for match in rule.pattern.finditer(text):
        for start, end in match.spans("secret"):
            if start < end and all(_passes(str(name), text, start, end) for name in filters):
                yield start, end


def _passes(name: str, text: str, start: int, end: int) -> bool:
    value = text[start:end]
    if name == "random":
        return _is_random(value)
    if name == "value":
        return _TEMPLATE.search(value) is None
    if name == "password":
        return _is_password(text, start, end)
    words = set(value.lower().replace(",", " ").split())
    return not words & _words("function")


def _is_random(value: str) -> bool:
    """Say whether a value looks machine-made: mixed, varied, and not made of words."""
    if not any(c.isdigit() for c in value) and not _mixed_letters(value):
        return False
    letters = sum(len(word) for word in _WORD_LIKE.findall(value) if len(word) >= 5)
    return entropy(value) >= _MIN_ENTROPY and letters * 2 < len(value) and not _INTEGRITY.match(value)


def _mixed_letters(value: str) -> bool:
    words = _WORD_LIKE.findall(value)
    return len(value) >= 16 and any(c.islower() for c in value) and (any(c.isupper() for c in value) or len(words) == 1)


def _is_password(text: str, start: int, end: int) -> bool:
    """Say whether a value that follows the word password is one, rather than the next word of the sentence."""
    value = text[start:end]
    if value.strip(".,;:!?").lower() in _words("readable") or value.startswith(("http://", "https://")):
        return False
    if any(c.isdigit() or not (c.isalnum() or c in "'’-.,") for c in value) or any(c.isupper() for c in value[1:]):
        return True
    if text[start - 1 : start] in tuple("\"'“‘`«"):
        return True
    if value.endswith(("ed", "ing", "ly", "en")) or len(value) < 4:
        return False
    return text[end : end + 2].strip(" ") in ("", ".", ",", "!", "?", ";") and not regex.match(
        r"[.,;!?]?[ ]+\p{Ll}", text[end : end + 4]
    )


@functools.lru_cache(maxsize=8)
def _words(name: str) -> frozenset[str]:
    return frozenset(rules.load(_STAGE).vocabulary.get(name, ()))


def entropy(value: str) -> float:
    """Return the Shannon entropy of a string in bits for each character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values()) if total else 0.0


def _entropy(text: str) -> Iterator[Secret]:
    """Yield long random tokens that stand in a context of credentials and carry no label of their own."""
    for match in _CANDIDATE.finditer(text):
        value = match.group()
        before = text[max(0, match.start() - 60) : match.start()].rsplit("\n\n", 1)[-1]
        if (
            len({c.isupper() if c.isalpha() else None for c in value if c.isalnum()}) == 3
            and entropy(value) >= _MIN_ENTROPY_ALONE
            and _is_random(value)
            and value.count("/") <= len(value) // 12
            and not _UUID.match(value)
            and _CREDENTIAL_CONTEXT.search(f"{before} {text[match.end() : match.end() + 40]}") is not None
            and _LABELLED.search(before) is None
        ):
            yield Secret(match.start(), match.end(), "high-entropy")


@functools.lru_cache(maxsize=1)
def _detectors() -> tuple[Any, ...]:
    """Return the structural detectors of detect-secrets; no settings, no filters, no verification.

    Left out are those for addresses, quoted keywords and entropy, and those whose whole value our own rules find.
    """
    from detect_secrets.plugins.artifactory import ArtifactoryDetector
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.cloudant import CloudantDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
    from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
    from detect_secrets.plugins.mailchimp import MailchimpDetector
    from detect_secrets.plugins.npm import NpmDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.softlayer import SoftlayerDetector
    from detect_secrets.plugins.square_oauth import SquareOAuthDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
    from detect_secrets.plugins.twilio import TwilioKeyDetector

    classes = (
        ArtifactoryDetector,
        AWSKeyDetector,
        AzureStorageKeyDetector,
        CloudantDetector,
        DiscordBotTokenDetector,
        GitHubTokenDetector,
        GitLabTokenDetector,
        IbmCloudIamDetector,
        IbmCosHmacDetector,
        MailchimpDetector,
        NpmDetector,
        OpenAIDetector,
        PypiTokenDetector,
        SendGridDetector,
        SlackDetector,
        SoftlayerDetector,
        SquareOAuthDetector,
        StripeDetector,
        TelegramBotTokenDetector,
        TwilioKeyDetector,
    )
    return tuple(detector() for detector in classes)


def _structural(text: str) -> Iterator[Secret]:
    """Yield what the detectors find in each line that holds a long token with a digit, grown to whole tokens."""
    for line in regex.finditer(r"[^\n]+", text):
        if not any(any(c.isdigit() for c in token) for token in _LONG.findall(line.group())):
            continue
        for detector in _detectors():
            for value in set(detector.analyze_string(line.group())):
                if not value:
                    continue
                kind = str(detector.secret_type).lower().replace(" ", "-")
                for match in regex.finditer(regex.escape(value), line.group()):
                    start, end = _grown(text, line.start() + match.start(), line.start() + match.end())
                    yield Secret(start, end, kind)


def _grown(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the whole token around a span: detectors often return a part."""
    while start > 0 and (text[start - 1].isascii() and (text[start - 1].isalnum() or text[start - 1] in "_-")):
        start -= 1
    while end < len(text) and (text[end].isascii() and (text[end].isalnum() or text[end] in "_-.+/=~")):
        end += 1
    return start, end - (text[end - 1] == "." and end - 1 > start)


def _merged(found: list[Secret]) -> list[Secret]:
    """Return the secrets sorted, with those that overlap united under the kind that begins first."""
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if merged and secret.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, secret.end))
        else:
            merged.append(secret)
    return merged
