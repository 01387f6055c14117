"""Other memories, each used as its documentation recommends; they run in a separate environment."""
