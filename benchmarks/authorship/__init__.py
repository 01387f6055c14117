"""Whose words a sentence is: labelled examples, and the numbers made from them."""
