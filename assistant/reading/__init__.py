"""Reading: from a question and recalled rounds to an answer."""
