"""Examples of routes about sessions."""

from assistant.api.examples.memories import BRUGES, GHENT

OPEN = {"user_id": "ann", "session_id": "spring", "started_at": "2023-05-20T10:00:00Z"}
OPENED = {
    "object": "session",
    "id": "spring",
    "user_id": "ann",
    "started_at": "2023-05-20T10:00:00Z",
}
RECORD = {
    "user_id": "ann",
    "timestamp": "2023-05-20T10:00:00Z",
    "messages": [
        {"role": "user", "content": "I live in Ghent."},
        {"role": "assistant", "content": "A fine city."},
        {
            "role": "user",
            "content": "I moved to Bruges yesterday.",
            "timestamp": "2023-05-27T10:00:00Z",
        },
        {
            "role": "assistant",
            "content": "Enjoy the canals.",
            "timestamp": "2023-05-27T10:00:05Z",
        },
    ],
}
RECORDED = {
    "object": "session.messages",
    "session_id": "spring",
    "user_id": "ann",
    "recorded": 4,
    "known": 0,
    "rounds": [
        {"id": GHENT["id"], "round_index": 0},
        {"id": BRUGES["id"], "round_index": 1},
    ],
    "enrichment": None,
}
SESSION = {
    "object": "session",
    "id": "spring",
    "user_id": "ann",
    "started_at": "2023-05-20T10:00:00Z",
    "ended_at": "2023-05-27T10:00:00Z",
    "rounds": 2,
    "opening": "I live in Ghent.",
    "days": [{"day": "2023-05-20", "rounds": 1}, {"day": "2023-05-27", "rounds": 1}],
    "enrichment": {"pending": 0, "done": 2, "failed": 0},
    "failures": [],
}
LIST = {"object": "list", "data": [SESSION]}
WHOLE = SESSION | {"data": [GHENT, BRUGES]}
FORGOTTEN = {
    "object": "session.deleted",
    "id": "spring",
    "deleted": False,
    "dry_run": True,
    "rounds": 2,
    "facts": 2,
    "sessions": 1,
    "answers": 0,
}
