"""The kinds of questions of each benchmark, by the names reports use."""

LONGMEMEVAL_TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "knowledge-update",
    "temporal-reasoning",
)
# What LongMemEval says its types measure; abstention is measured across them.
ABILITIES = {
    "single-session-user": "information extraction",
    "single-session-assistant": "information extraction",
    "single-session-preference": "information extraction",
    "multi-session": "multi-session reasoning",
    "knowledge-update": "knowledge updates",
    "temporal-reasoning": "temporal reasoning",
}
ABSTENTION = "abstention"
# The numbers do not follow the order of the paper's list; the data decides.
LOCOMO_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
