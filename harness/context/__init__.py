"""Evidence in context: what an assistant's reader really gets to read."""
