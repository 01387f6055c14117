"""What a number of users and rounds would take, by a small simulation over measured figures."""
