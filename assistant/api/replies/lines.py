"""The lines of an export, by example."""

from assistant.api.replies.memories import BRUGES_ID, GHENT_ID

LINES_EXAMPLE = (
    '{"format":"aide-memoire/records","version":3}\n'
    '{"assistant_name":null,"assistant_text":"A fine city.","attempts":0,'
    '"checksum":"840743e119d97a11","corrected_at":null,'
    '"enrichment":"done","extractor":"","facts":[{"event_dates":[],"slot":"live in",'
    '"source":"rule","speaker":"user","superseded_by":{"by":"rule",'
    f'"round_id":"{BRUGES_ID}","said_at":"2023-05-27T10:00:00+00:00",'
    '"text":"I moved to Bruges yesterday."},"text":"I live in Ghent."}],"failure":"",'
    '"keyphrases":[],"may_supersede":true,"repeats":[],"round_index":0,'
    '"session_date":"2023-05-20T10:00:00+00:00","session_id":"spring","summary":"",'
    '"turn_ids":["b334c451d1f027b2e49e","edc1f3dc2be3226a4a63"],"user_id":"ann",'
    '"user_name":null,"user_text":"I live in Ghent."}\n'
    '{"assistant_name":null,"assistant_text":"Enjoy the canals.","attempts":0,'
    '"checksum":"d58f4a391546fa78","corrected_at":null,'
    '"enrichment":"done","extractor":"","facts":[{"event_dates":[["2023-05-26","2023-05-26"]],'
    '"slot":"live in","source":"rule","speaker":"user","supersedes":[{"by":"rule",'
    f'"round_id":"{GHENT_ID}","said_at":"2023-05-20T10:00:00+00:00",'
    '"text":"I live in Ghent."}],"text":"I moved to Bruges yesterday."}],"failure":"",'
    '"keyphrases":[],"may_supersede":true,"repeats":[],"round_index":1,'
    '"session_date":"2023-05-27T10:00:00+00:00","session_id":"spring","summary":"",'
    '"turn_ids":["d35afbc1237933caa894","4644b339210b3c450911"],"user_id":"ann",'
    '"user_name":null,"user_text":"I moved to Bruges yesterday."}\n'
    '{"records":2}\n'
)
