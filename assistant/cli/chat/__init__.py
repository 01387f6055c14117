"""`assistant chat`: what is typed, what is shown, and the slash commands."""
