"""The report of a run: one dictionary, and its three faces (JSON, Markdown, HTML)."""
