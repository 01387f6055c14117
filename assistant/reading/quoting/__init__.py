"""The reader without a language model: dated quotes, and what follows from them by rules."""
