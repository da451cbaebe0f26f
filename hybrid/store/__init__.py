"""Keep memories, their history and their evidence in one DuckDB file."""

from __future__ import annotations

from hybrid.store.records import ConversationRecord, Filters, Hit, StoredConversation, statement_key, turn_hash
from hybrid.store.store import Store

__all__ = ["ConversationRecord", "Filters", "Hit", "Store", "StoredConversation", "statement_key", "turn_hash"]
