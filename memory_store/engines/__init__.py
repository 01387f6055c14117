"""The engines a store can run on; each third-party engine is imported in its own module only."""
