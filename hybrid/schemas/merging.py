"""Compare new memories with known ones, one after the other, so that the order of telling decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hybrid.memory import Known, Memory, Operation, apply, normalized


def merge_by_key(memories: tuple[Memory, ...], known: Known, policy: Mapping[str, str]) -> tuple[Operation, ...]:
    """Return the operations that bring the memories into what is known.

    `policy` says for each category whether a memory with the same key replaces the old one (`replace`), stands beside it
    (`collect`), or is always new (`new`). The same text about the same subject only adds its evidence, in every policy.
    """
    operations: list[Operation] = []
    state = known.memories
    for memory in memories:
        operation = _compared(memory, state, policy.get(memory.category, "collect"))
        operations.append(operation)
        state = apply(state, (operation,))
    return tuple(operations)


def _compared(memory: Memory, state: tuple[Memory, ...], policy: str) -> Operation:
    same_id = next((old for old in state if old.id == memory.id), None)
    if same_id is not None:
        return _again(memory, same_id)
    current = [old for old in state if old.status == "current" and old.category == memory.category]
    told = next((old for old in current if _same(old, memory)), None)
    if told is not None:
        return _evidenced(memory, told)
    if policy == "replace":
        rival = next((old for old in current if old.key == memory.key and _subject(old) == _subject(memory)), None)
        if rival is not None:
            return Operation("supersede", memory, rival.id, "a later statement on the same matter")
    return Operation("add", memory, reason="new")


def _again(memory: Memory, old: Memory) -> Operation:
    """Take a memory of the same conversation that is known: its text stays, only new evidence counts."""
    new = set(memory.evidence_spans) - set(old.evidence_spans)
    if old.status != "current" or not new:
        return Operation("skip", memory, old.id, "known")
    return _evidenced(memory, old)


def _evidenced(memory: Memory, old: Memory) -> Operation:
    if old.conversation != memory.conversation:
        # References count within one conversation; the fact is known, its other telling adds nothing to the text.
        return Operation("skip", memory, old.id, "known from another conversation")
    spans = tuple(dict.fromkeys(old.evidence_spans + memory.evidence_spans))
    if spans == old.evidence_spans:
        return Operation("skip", memory, old.id, "known")
    refs = tuple(dict.fromkeys(old.evidence + memory.evidence))
    return Operation("update", replace(old, evidence=refs, evidence_spans=spans), old.id, "told again")


def _same(old: Memory, new: Memory) -> bool:
    return _subject(old) == _subject(new) and normalized(old.text) == normalized(new.text)


def _subject(memory: Memory) -> str:
    return normalized(memory.subject or "")
