"""What each rule and number earns, on three kinds of text."""
