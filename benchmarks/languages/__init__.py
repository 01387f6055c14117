"""Messages and questions in ten languages, and whether recall finds what was asked about."""
