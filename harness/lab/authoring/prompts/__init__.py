"""What the author's model is asked, a file a step."""
