"""Messages as people type them, which are told, changed, kept, forgotten or refused."""
