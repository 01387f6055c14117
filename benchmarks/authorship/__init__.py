"""Whose words a sentence has: labelled examples, and the numbers made from them."""
