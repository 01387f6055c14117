"""Fresh questions that no model has read: made by templates or a model, checked, reviewed."""
