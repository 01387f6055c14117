"""A small hand-written chat in BEAM's layout, with the oddities of the real files."""

from typing import Any


def message(number: int, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "id": number, "content": content, **more}


def chat_of_two_batches() -> list[dict[str, Any]]:
    """Eight messages: 9 April, and a batch that goes on from 2 May to 5 May."""
    return [
        {
            "batch_number": 1,
            "time_anchor": None,
            "turns": [
                [
                    message(
                        0,
                        "user",
                        "I keep four beehives behind the mill. ->-> 1,1",
                        time_anchor="April-09-2024",
                        question_type="main_question",
                    ),
                    message(1, "assistant", "Four hives need a level stand. ->-> 1,1"),
                    message(2, "user", "Always answer me with metric units. ->-> 2,N/A"),
                    message(3, "assistant", "I will."),
                ]
            ],
        },
        {
            "batch_number": 2,
            "turns": [
                [
                    message(
                        4, "user", "I bought a fifth hive. ->->  3,8", time_anchor="May-02-2024"
                    ),
                    message(5, "assistant", "Then you have five."),
                ],
                [
                    message(
                        6, "user", "The honey is spun. ->-> 5,14)", time_anchor="May 5th, 2024"
                    ),
                    message(7, "assistant", "a ->-> b is an arrow, not a reference"),
                ],
            ],
        },
    ]


def probing() -> dict[str, list[dict[str, Any]]]:
    """Five questions of five abilities."""
    return {
        "abstention": [
            {
                "question": "Who sold me the mill?",
                "ideal_response": "There is no information about that GOLDMARK.",
                "difficulty": "easy",
                "why_unanswerable": "GOLDMARK",
                "rubric": ["There is no information about who sold the mill"],
            }
        ],
        "event_ordering": [
            {
                "question": "In which order did I tell you about the bees?",
                "answer": "1) Four beehives behind the mill, 2) A fifth hive, 3) Spun honey",
                "source_chat_ids": [0, 4, 6],
                "rubric": ["Four beehives behind the mill", "Fifth hive", "Spun honey"],
            }
        ],
        "instruction_following": [
            {
                "question": "How tall should the stand be?",
                "expected_compliance": "Response should use GOLDMARK centimetres.",
                "source_chat_ids": [2],
                "rubric": ["LLM response should contain: GOLDMARK centimetres"],
            }
        ],
        "knowledge_update": [
            {
                "question": "How many hives do I have?",
                "answer": "Five hives",
                "source_chat_ids": {"original_info": [0], "updated_info": [4, 99]},
                "rubric": ["LLM response should state: five hives"],
            }
        ],
        "summarization": [
            {
                "question": "Sum up my beekeeping.",
                "ideal_summary": "You began with four beehives and spun honey in May.",
                "source_chat_ids": [0, 1, 6],
                "rubric": [
                    "LLM response should contain: four beehives",
                    "LLM response should contain: spun honey in May",
                ],
            }
        ],
    }


def record(number: int = 1, **changes: Any) -> dict[str, Any]:
    chat = {"chat": chat_of_two_batches(), "probing_questions": probing()}
    return {"size": "100K", "chat_id": number, **chat, **changes}
