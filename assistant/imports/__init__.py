"""What other assistants give out, read as sessions. No HTTP, no store."""
