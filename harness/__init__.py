"""Replays benchmark histories over HTTP against an assistant and scores what comes back.

The harness knows an assistant by its URL and by JSON, never by its code. Its surface is the
`harness` command and the files of a run directory (docs/benchmark.md); nothing here is meant to be
imported by others.
"""
