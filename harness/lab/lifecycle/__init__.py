"""What happens over a memory's life: cases of our own, told and asked through an assistant's chat
API, and decided by rules that anybody can read.
"""
