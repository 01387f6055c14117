"""The report of a run: one dictionary, and its three formats (JSON, Markdown, HTML)."""
