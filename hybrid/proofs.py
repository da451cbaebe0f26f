"""Prove the declared rules of each stage on their own examples, the way the stage itself would apply them."""

from __future__ import annotations

from dataclasses import replace

from hybrid import rules
from hybrid.config import Settings
from hybrid.data import Conversation, Document, Message
from hybrid.pipeline import STAGES as PIPELINE
from hybrid.rules import Proof, Rule
from hybrid.stages import cues, dates, secrets

STAGES = ("secrets", "speakers", "dates", "linguistics", "mentions", "cues")


def proofs(stage: str) -> tuple[Proof, ...]:
    """Try every rule of a stage on its own examples."""
    matches = {"secrets": secrets.matches, "dates": dates.matches, "cues": _cue_applies}
    return tuple(p for file in rules.files(stage) for p in rules.prove(file, matches.get(stage, Rule.matches)))


def _cue_applies(rule: Rule, text: str) -> bool:
    """Say whether a cue rule applies to a text: its conditions count as much as its pattern."""
    role = rule.values.get("roles", ("user",))[0]
    settings = Settings(language=rule.languages[0])
    document = Document(Conversation((Message(role, text),)))
    for stage in PIPELINE[:4]:
        # Examples hold the mask itself, where a rule is about what is left of a credential.
        document = replace(document, secrets=()) if stage.name == "secrets" else stage.run(document, settings)
    return any(True for turn in document.turns for _ in cues.matches(rule, turn, document.sentences))
