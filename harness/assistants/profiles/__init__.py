"""Profiles that come with the harness."""
