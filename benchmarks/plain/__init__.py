"""Messages as people type them: told, changed, kept, forgotten and refused."""
