"""Write the Markdown overview of a memory; a section without evidence is left out."""

from __future__ import annotations

from typing import Any

from hybrid.data import Statement


def overview(statement: Statement, category: str, text: str, sections: list[str]) -> str:
    """Return second-level headings with bullet lists, in the order that the policy names."""
    values = {name.casefold(): value for name, value in _values(statement, category, text).items()}
    lines: list[str] = []
    for section in sections:
        entries = [entry for entry in values.get(section.casefold(), []) if entry]
        if entries:
            lines.append(f"## {section}")
            lines.extend(f"- {entry}" for entry in entries)
    return "\n".join(lines)


def _values(s: Statement, category: str, text: str) -> dict[str, list[str]]:
    details = s.details
    when = _when(s)
    who = list(dict.fromkeys([s.subject, *s.people]))
    if category == "profile":
        return {
            "Attribute": [str(details.get("attribute") or s.topic)],
            "Value": [str(details.get("value") or text), *_rest(details, text)],
        }
    if category == "preference":
        return {"Topic": [s.topic.replace("_", " ")], "Specific Preference": [text]}
    if category == "entity":
        basic = [s.subject if not details.get("thing") else str(details["thing"]), *([f"Place: {s.where}"] if s.where else [])]
        related = [f"Time: {when}"] if when else []
        return {"Basic Info": basic, "Key Attributes": [text], "Related Facts": [*related, *[f"Person: {p}" for p in s.people]]}
    if category == "event":
        said = [f"mentioned on {s.said:%Y-%m-%d}"] if when is None and s.said else []
        return {
            "What Happened": [text],
            "When": [when] if when else said,
            "Who": who,
            "Where": [s.where] if s.where else [],
            "Commitment": [str(details.get("commitment", ""))],
        }
    return _operational(s, category, text)


def _operational(s: Statement, category: str, text: str) -> dict[str, list[str]]:
    details = s.details
    if category == "case":
        return {
            "Problem": [str(details.get("problem", ""))],
            "Root Cause": [str(details.get("cause", ""))],
            "Solution": [str(details.get("solution", ""))],
            "Outcome": [str(details.get("outcome", ""))],
        }
    if category == "pattern":
        return {"Trigger": [s.topic.replace("_", " ")], "Observation": [text], "Frequency": [str(details.get("frequency", ""))]}
    if category == "skill":
        steps = [f"{number}. {step}" for number, step in enumerate(details.get("steps", []), 1)]
        return {
            "Trigger": [str(details.get("purpose", ""))],
            "Steps": steps,
            "Completion Criteria": [str(details.get("completion", ""))],
        }
    numbers = [f"Calls: {details['calls']}"] if details.get("calls") else []
    numbers += [f"Success rate: {details['rate']}"] if details.get("rate") else []
    return {
        "Tool": [str(details.get("tool", s.topic))],
        "Usage Statistics": numbers or [text],
        "Best For": [str(details.get("best_for", ""))],
        "Optimal Parameters": [str(details.get("optimal_params", ""))],
        "Common Failures": [str(details.get("common_failures", ""))],
    }


def _rest(details: Any, text: str) -> list[str]:
    return [text] if details.get("value") and str(details["value"]) != text else []


def _when(s: Statement) -> str | None:
    if s.when is None or s.when.interval is None:
        return None
    return f"{s.when.interval} ({s.when.text})" if s.when.text else s.when.interval
