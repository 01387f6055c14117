"""What request bodies look like. Unknown fields are accepted and ignored."""
