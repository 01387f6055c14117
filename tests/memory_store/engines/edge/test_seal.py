"""The seal of a closed memory: any change of any file is noticed, and named."""

import os
import random
import shutil
from pathlib import Path

import pytest

from memory_store.engines._edge.integrity import broken, is_sealed, seal, unseal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of some shapes: small, large with holes, empty, in folders."""
    folder = tmp_path / "data"
    (folder / "inner").mkdir(parents=True)
    (folder / "small").write_bytes(b"abc")
    (folder / "empty").write_bytes(b"")
    (folder / "inner" / "text").write_bytes(bytes(range(256)) * 1000)
    with (folder / "sparse").open("wb") as file:
        file.truncate(5_000_000)
        file.seek(3_000_001)
        file.write(b"in the middle")
    seal(folder)
    return folder


def test_what_was_not_touched_is_whole(folder: Path) -> None:
    assert is_sealed(folder)
    assert broken(folder) == []


def test_a_copy_is_whole_whatever_it_makes_of_holes(folder: Path, tmp_path: Path) -> None:
    dense = tmp_path / "dense"
    shutil.copytree(folder, dense)
    with (dense / "sparse").open("r+b") as file:
        content = file.read()
        file.seek(0)
        file.write(content)
        os.fsync(file.fileno())
    assert broken(dense) == []


def test_an_opened_one_has_no_seal(folder: Path) -> None:
    unseal(folder)
    unseal(folder)
    assert not is_sealed(folder)


def test_what_an_interrupted_sealing_left_is_no_part_of_it(folder: Path) -> None:
    (folder / "seal.new").write_text("{")
    assert broken(folder) == []
    seal(folder)
    assert broken(folder) == []


@pytest.mark.parametrize("name", ["small", "inner/text", "sparse", "seal"])
def test_a_flipped_bit_is_noticed(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    chance = random.Random(name)
    for at in [0, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(20))]:
        with (folder / name).open("r+b") as file:
            file.seek(at)
            file.write(bytes([whole[at] ^ 1 << chance.randrange(8)]))
        assert broken(folder) == [name]
        (folder / name).write_bytes(whole)
    assert broken(folder) == []


@pytest.mark.parametrize("name", ["small", "inner/text", "sparse", "seal"])
def test_a_file_cut_short_is_noticed(folder: Path, name: str) -> None:
    os.truncate(folder / name, (folder / name).stat().st_size - 1)
    assert broken(folder) == [name]


def test_files_that_come_and_go_are_noticed(folder: Path) -> None:
    (folder / "empty").unlink()
    (folder / "new").write_bytes(b"")
    assert broken(folder) == ["empty", "new"]
