"""The designs of the literature, a module each: its choices, and what is its own."""
