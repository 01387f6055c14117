"""Fresh questions that no model has read: made by templates or by a model, checked, and reviewed."""
