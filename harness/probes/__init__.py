"""What an assistant makes of time, sessions and users, tried with a history of our own."""
