"""Examples of routes about the service itself."""

HEALTH = {"status": "ok"}
READY = {
    "status": "ready",
    "checks": {"store": "ok", "embedder": "ok", "disk": "ok", "model": "quotes"},
}
METRICS = "# TYPE assistant_requests_running gauge\n"
USAGE = {"object": "usage", "roles": {}}
VERSION = {
    "version": "0.1.0",
    "store": {"engine": "edge", "embedder": "hash", "dimension": 256, "schema_version": 3},
    "embedder": {"name": "hash", "dimension": 256, "path": "hash"},
    "reader": "quotes",
    "models": {"chat_model": None, "extract_model": None, "query_model": None},
    "prompts": {"chain_of_note": "faccceeb6c0d"},
    "settings": {"embedder": "hash", "chat_model": "", "chat_model_api_key": None},
    "caller": {"label": None, "user_id": None, "scopes": ["act_as", "admin", "set_time"]},
}
PAGE = "<!doctype html>"
SCRUBBED = {"object": "scrub", "scrubbed": True}
