"""The `harness` command: options, its commands, and the demonstration."""
