"""Whose words a message is: the user's own, or quoted, pasted, made up, or a text to work on."""

from memory_store.language.authorship.judgement import AMONG_PEOPLE, RULE, Authorship, authorship

__all__ = ["AMONG_PEOPLE", "RULE", "Authorship", "authorship"]
