"""How a memory changes: records written and linked, enriched, put right, forgotten."""
