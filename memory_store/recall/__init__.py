"""From a query to ranked rounds and sessions: shared by every engine, so that all rank alike."""
