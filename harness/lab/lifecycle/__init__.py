"""Cases of our own about a memory's life. They are told and asked through an assistant's chat API,
and decided by rules that anybody can read.
"""
