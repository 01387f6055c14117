"""The marks beside rounds in a prompt, compared with labels that were set by hand."""
