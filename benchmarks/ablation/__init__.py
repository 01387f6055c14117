"""Measures what each rule and number contributes, on three kinds of text."""
