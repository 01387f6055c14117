"""Facts found in what people say, by rules or by a language model, against what was annotated."""
