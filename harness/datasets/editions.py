"""The published data files by their SHA-256: which edition they are, and where they come from.

Figures on the original and on the cleaned LongMemEval files cannot be compared; the hash tells them
apart, whatever a copy is called.
"""

from dataclasses import dataclass

_HUB = "https://huggingface.co/datasets"
_ORIGINAL = f"{_HUB}/xiaowu0162/longmemeval/resolve/2ec2a557f339b6c0369619b1ed5793734cc87533"
_CLEANED = f"{_HUB}/xiaowu0162/longmemeval-cleaned/resolve/98d7416c24c778c2fee6e6f3006e7a073259d48f"
_LOCOMO = "https://raw.githubusercontent.com/snap-research/locomo/main/data"
_REFINED = (
    "https://raw.githubusercontent.com/mem-eval-suite/LoCoMo_refined/"
    "887091190789e8d6760e70b9edd696539923dc4f/data"
)
_PLUS = (
    "https://raw.githubusercontent.com/xjtuleeyf/Locomo-Plus/"
    "143cdeb649231612abc3304793bb36a122f94229/data/locomo_plus.json"
)
_BEAM = "https://raw.githubusercontent.com/mohammadtavakoli78/BEAM/main/chats"


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A published file: `key` names it on the command line; size and hash are None where nobody
    has told us. One that `is_optional` may not be published.
    """

    key: str
    dataset: str
    edition: str
    file: str
    url: str
    licence: str
    sha256: str | None = None
    size: int | None = None
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """Published files that belong together under one key; their names begin with folders."""

    key: str
    folder: str
    licence: str
    files: tuple[KnownFile, ...]


KNOWN_FILES = (
    KnownFile(
        key="longmemeval-oracle",
        dataset="longmemeval",
        edition="oracle",
        file="longmemeval_oracle.json",
        url=f"{_CLEANED}/longmemeval_oracle.json",
        licence="MIT",
        sha256="821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
        size=15_388_478,
    ),
    KnownFile(
        key="longmemeval-s",
        dataset="longmemeval",
        edition="S, cleaned",
        file="longmemeval_s_cleaned.json",
        url=f"{_CLEANED}/longmemeval_s_cleaned.json",
        licence="MIT",
        sha256="d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        size=277_383_467,
    ),
    KnownFile(
        key="longmemeval-m",
        dataset="longmemeval",
        edition="M, cleaned",
        file="longmemeval_m_cleaned.json",
        url=f"{_CLEANED}/longmemeval_m_cleaned.json",
        licence="MIT",
        sha256="9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
        size=2_737_100_077,
    ),
    KnownFile(
        key="longmemeval-s-original",
        dataset="longmemeval",
        edition="S, original",
        file="longmemeval_s.json",
        url=f"{_ORIGINAL}/longmemeval_s",
        licence="MIT",
        sha256="08d8dad4be43ee2049a22ff5674eb86725d0ce5ff434cde2627e5e8e7e117894",
        size=278_025_796,
    ),
    KnownFile(
        key="longmemeval-m-original",
        dataset="longmemeval",
        edition="M, original",
        file="longmemeval_m.json",
        url=f"{_ORIGINAL}/longmemeval_m",
        licence="MIT",
    ),
    KnownFile(
        key="locomo",
        dataset="locomo",
        edition="ten conversations",
        file="locomo10.json",
        url=f"{_LOCOMO}/locomo10.json",
        licence="CC BY-NC 4.0",
        sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
        size=2_805_274,
    ),
    KnownFile(
        key="locomo-refined",
        dataset="locomo-refined",
        edition="1.0.0",
        file="locomo_refined.json",
        url=f"{_REFINED}/raw/locomo_refined.json",
        licence="CC BY-NC 4.0",
        sha256="1aef6da702087d72515d1b9224f0956a2fbab415c11936253bf7d967d3cf8c17",
    ),
    KnownFile(
        key="locomo-plus",
        dataset="locomo-plus",
        edition="401 items",
        file="locomo_plus.json",
        url=_PLUS,
        licence="not stated",
    ),
)


def _chats(size: str, count: int) -> KnownFolder:
    """A size of BEAM: the chats and their questions, and shortened chats where there are any."""
    key, licence = f"beam-{size.lower()}", "not stated"
    names = ("chat.json", "probing_questions/probing_questions.json", "chat_trunecated.json")
    files = (
        KnownFile(
            key=key,
            dataset="beam",
            edition=size,
            file=f"beam/{size}/{number}/{name}",
            url=f"{_BEAM}/{size}/{number}/{name}",
            licence=licence,
            is_optional=name == names[-1],
        )
        for number in range(1, count + 1)
        for name in names
    )
    return KnownFolder(key, f"beam/{size}", licence, tuple(files))


KNOWN_FOLDERS = (_chats("100K", 20), _chats("500K", 35), _chats("1M", 35), _chats("10M", 10))


def edition_of(sha256: str) -> str | None:
    """What the bytes are known as, None for any other file."""
    return next((known.edition for known in KNOWN_FILES if known.sha256 == sha256), None)
