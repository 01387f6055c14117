"""How much of one text is read, and by whom. Ordinary texts are far below; a longer one is a
document that somebody pasted, or made to keep others waiting."""

LONGEST_READ = 65_536
"""Characters that rules read for facts, their days and slots, and for what a question asks and
which sentences answer it. The longest message of the histories that we know has 42,000; a search
may ask in half as many. All of a text is kept, shown, and found by its words."""

LONGEST_QUERY = 2000
"""Characters of a question that are embedded: text beyond this adds nothing to a query."""
