"""Memory designs to compare with: each a view of the stored rounds, chosen by the setting `design`.

`aide-memoire` is the product itself and needs none of this. Every other design derives its values,
keys and index from a user's rounds when the user asks, and keeps them until the rounds change.
"""
