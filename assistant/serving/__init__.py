"""`assistant serve`: one process or several, and how they end."""
