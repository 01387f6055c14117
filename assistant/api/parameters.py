"""The parameters of paths and queries that several routes share, as they are documented."""

from typing import Annotated

from fastapi import Path, Query

_WHOSE = "Whose memory; a key for one user decides by itself."
_DAY = "a day, `YYYY-MM-DD`"

UserId = Annotated[str | None, Query(description=_WHOSE, examples=["ann"])]
UserInPath = Annotated[str, Path(description="Whose memory.", examples=["ann"])]
SessionId = Annotated[str, Path(description="The id of a session.", examples=["spring"])]
MemoryId = Annotated[
    str,
    Path(
        description="The id of a round, as lists and searches give it.",
        examples=["9e30fe08-285a-5010-9f14-df2aebb7e3ff"],
    ),
]
DryRun = Annotated[bool, Query(description="Only count what would go.", examples=[True])]
AsOf = Annotated[
    str | None,
    Query(description=f"As known on {_DAY}: nothing said later counts.", examples=["2023-06-01"]),
]
From = Annotated[
    str | None,
    Query(alias="from", description=f"Said on or after {_DAY}.", examples=["2023-05-01"]),
]
Where = Annotated[
    str | None,
    Query(description="Labelled like this: a JSON object of names and values, or lists of values."),
]
To = Annotated[str | None, Query(description=f"Said until {_DAY}.", examples=["2023-05-31"])]
