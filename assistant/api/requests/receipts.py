"""The body of the route that verifies receipts."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from assistant.api.replies.receipts import GivenReceipt
from assistant.api.requests import Request, Time


class ReceiptToVerify(Request):
    """`POST /v1/receipts`: the receipt as it was given. `words` are searched for in the files, for
    the admin."""

    receipt: dict[str, Any]
    words: list[Annotated[str, Field(min_length=4, max_length=256)]] = Field([], max_length=16)
    now: Time = None
    example: ClassVar[Mapping[str, Any]] = {"receipt": GivenReceipt.example}
