"""One message: its call, its acts, what is recalled for it, and what is stored of it."""
