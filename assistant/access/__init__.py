"""Who may do what: keys, what each allows, and how much of it."""
