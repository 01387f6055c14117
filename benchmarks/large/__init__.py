"""One large memory: filled once, then searched, asked, restarted, backed up and forgotten in."""
