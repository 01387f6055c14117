"""What so many users and rounds would take: a small simulation over figures that were measured."""
