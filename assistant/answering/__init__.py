"""From recalled rounds to an answer."""
