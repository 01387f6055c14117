"""What we install and ship: its lock, its licences, its bill of materials, the digests of images.

For whoever maintains the project; nothing of it is installed with the assistant.
"""
