"""New histories of any size in the LongMemEval format, from the sessions of a file there is."""
