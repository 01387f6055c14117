"""The assistant under test, known by its URL: what is sent, what comes back, when to try again."""
