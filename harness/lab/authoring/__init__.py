"""Fresh questions that no model has read: written by templates or a model, checked, reviewed."""
