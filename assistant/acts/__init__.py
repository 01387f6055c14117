"""What a message wants done, beside being answered and kept (docs/decisions/0016-acts.md)."""
