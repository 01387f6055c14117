"""Messages and questions in five languages, and whether recall finds what was asked about."""
