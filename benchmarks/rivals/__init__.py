"""Other memories' products as assistants over HTTP, measured by the harness like any other.

What speaks to a product's library runs in an environment of its own and needs, beside that library,
nothing but Python: `rounds`, `reader`, `serving`, and one module a product.
"""
