"""New histories of any size in the LongMemEval format, made of the sessions of an existing file."""
