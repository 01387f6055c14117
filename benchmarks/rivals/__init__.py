"""Other memory products as assistants over HTTP, measured by the harness like any other assistant.

The modules `rounds`, `reader`, `serving`, `wire`, and one module for each product run in the
product's own environment. They need nothing but Python and the product's library.
"""
