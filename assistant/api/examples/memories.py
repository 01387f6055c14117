"""Examples of routes about memories."""

from typing import Any

_GHENT_ID = "0157570d-e94a-5df1-bdf4-1e758aab5951"
_BRUGES_ID = "9e30fe08-285a-5010-9f14-df2aebb7e3ff"
_OLDER = {
    "id": _GHENT_ID,
    "text": "I live in Ghent.",
    "said_at": "2023-05-20T10:00:00Z",
    "by": "rule",
}
_NEWER = {
    "id": _BRUGES_ID,
    "text": "I moved to Bruges yesterday.",
    "said_at": "2023-05-27T10:00:00Z",
    "by": "rule",
}
_SURE: dict[str, Any] = {"in_doubt": False, "contradicts": []}
_ENRICHMENT = {"state": "done", "attempts": 0, "extractor": None, "failure": None}
GHENT: dict[str, Any] = {
    "object": "memory",
    "id": _GHENT_ID,
    "session_id": "spring",
    "round_index": 0,
    "session_date": "2023-05-20T10:00:00Z",
    "user_text": "I live in Ghent.",
    "assistant_text": "A fine city.",
    "facts": [
        {
            "text": "I live in Ghent.",
            "speaker": "user",
            "source": "rule",
            "event_dates": [],
            "superseded_by": _NEWER,
            "supersedes": [],
            **_SURE,
        }
    ],
    "enrichment": _ENRICHMENT,
    "corrected_at": None,
}
BRUGES_FACT: dict[str, Any] = {
    "text": "I moved to Bruges yesterday.",
    "speaker": "user",
    "source": "rule",
    "event_dates": [{"first": "2023-05-26", "last": "2023-05-26"}],
    "superseded_by": None,
    "supersedes": [_OLDER],
    **_SURE,
}
BRUGES: dict[str, Any] = {
    "object": "memory",
    "id": _BRUGES_ID,
    "session_id": "spring",
    "round_index": 1,
    "session_date": "2023-05-27T10:00:00Z",
    "user_text": "I moved to Bruges yesterday.",
    "assistant_text": "Enjoy the canals.",
    "facts": [BRUGES_FACT],
    "enrichment": _ENRICHMENT,
    "corrected_at": None,
}
_STEPS = [
    {
        "id": _GHENT_ID,
        "text": "I live in Ghent.",
        "said_at": "2023-05-20T10:00:00Z",
        "source": "rule",
        "until": _NEWER,
    },
    {
        "id": BRUGES["id"],
        "text": BRUGES_FACT["text"],
        "said_at": BRUGES["session_date"],
        "source": "rule",
        "until": None,
    },
]
TOLD = BRUGES | {"facts": [BRUGES_FACT | {"history": _STEPS}]}
UNDONE = BRUGES | {"facts": [BRUGES_FACT | {"supersedes": []}]}
SEARCH = {"user_id": "ann", "query": "Where did I live last month?", "top_k": 1}
FOUND: dict[str, Any] = {
    "object": "list",
    "query": "Where did I live last month?",
    "now": "2023-06-10T09:00:00Z",
    "time_range": {
        "first": "2023-05-01",
        "last": "2023-05-31",
        "precision": "month",
        "text": "last month",
    },
    "unit": "round",
    "timings": {"embed_ms": 0.69, "search_ms": 8.254, "total_ms": 8.944},
    "data": [
        BRUGES
        | {
            "similarity": 0.773429,
            "signals": {"dense": 0.0, "replaces": 0.773429},
            "reasons": [
                {
                    "signal": "replaces",
                    "value": 0.773429,
                    "weight": 1.0,
                    "contribution": 0.773429,
                    "because": ["I live in Ghent."],
                }
            ],
        }
    ],
}
PAGE = {"object": "list", "total": 1, "next": None, "data": [BRUGES]}
CORRECTION = {"user_id": "ann", "user_text": "I moved to Bruges on Friday."}
CORRECTED = BRUGES | {
    "user_text": "I moved to Bruges on Friday.",
    "facts": [BRUGES_FACT | {"text": "I moved to Bruges on Friday."}],
    "corrected_at": "2023-06-10T09:00:00Z",
}
FORGOTTEN = {
    "object": "memory.deleted",
    "id": BRUGES["id"],
    "deleted": False,
    "dry_run": True,
    "rounds": 1,
    "facts": 1,
    "sessions": 0,
    "answers": 0,
}
FORGOTTEN_USER = {
    "object": "user.memories.deleted",
    "user_id": "ann",
    "deleted": 0,
    "dry_run": True,
    "rounds": 2,
    "facts": 2,
    "sessions": 1,
    "answers": 0,
}
CONFLICTS = {
    "object": "list",
    "total": 1,
    "data": [
        {
            "object": "conflict",
            "id": "0d0e3b52-8f0e-5f0c-9a55-3f1c5d0f4e11",
            "session_id": "a letter",
            "round_index": 0,
            "fact": "I moved to Oslo in May.",
            "speaker": "quoted",
            "source": "rule",
            "said_at": "2023-06-01T10:00:00Z",
            "contradicts": [_NEWER],
        }
    ],
}
LINES = (
    '{"format":"aide-memoire/records","version":3}\n'
    '{"assistant_name":null,"assistant_text":"A fine city.","attempts":0,'
    '"checksum":"840743e119d97a11","corrected_at":null,'
    '"enrichment":"done","extractor":"","facts":[{"event_dates":[],"slot":"live in",'
    '"source":"rule","speaker":"user","superseded_by":{"by":"rule",'
    f'"round_id":"{_BRUGES_ID}","said_at":"2023-05-27T10:00:00+00:00",'
    '"text":"I moved to Bruges yesterday."},"text":"I live in Ghent."}],"failure":"",'
    '"keyphrases":[],"may_supersede":true,"repeats":[],"round_index":0,'
    '"session_date":"2023-05-20T10:00:00+00:00","session_id":"spring","summary":"",'
    '"turn_ids":["b334c451d1f027b2e49e","edc1f3dc2be3226a4a63"],"user_id":"ann",'
    '"user_name":null,"user_text":"I live in Ghent."}\n'
    '{"assistant_name":null,"assistant_text":"Enjoy the canals.","attempts":0,'
    '"checksum":"d58f4a391546fa78","corrected_at":null,'
    '"enrichment":"done","extractor":"","facts":[{"event_dates":[["2023-05-26","2023-05-26"]],'
    '"slot":"live in","source":"rule","speaker":"user","supersedes":[{"by":"rule",'
    f'"round_id":"{_GHENT_ID}","said_at":"2023-05-20T10:00:00+00:00",'
    '"text":"I live in Ghent."}],"text":"I moved to Bruges yesterday."}],"failure":"",'
    '"keyphrases":[],"may_supersede":true,"repeats":[],"round_index":1,'
    '"session_date":"2023-05-27T10:00:00+00:00","session_id":"spring","summary":"",'
    '"turn_ids":["d35afbc1237933caa894","4644b339210b3c450911"],"user_id":"ann",'
    '"user_name":null,"user_text":"I moved to Bruges yesterday."}\n'
    '{"records":2}\n'
)
IMPORTED = {
    "object": "user.memories.imported",
    "user_id": "ann",
    "imported": 0,
    "known": 2,
    "unreadable": [],
}
