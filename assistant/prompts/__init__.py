"""Prompts are files beside this module; `prompt_file.py` loads, checks, renders and hashes them."""
