"""Facts found in what people say, by rules or by a language model, compared with annotations."""
