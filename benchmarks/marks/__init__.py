"""What stands beside rounds in a prompt: rounds labelled by hand, and how often the marks agree."""
