"""The ledger: what it says is what was written, also of a torn or damaged file."""

import os
import uuid
from pathlib import Path

import pytest

from memory_store.engines._edge.ledger import Account, EntryKind, Ledger, LedgerEntry, read_ledger

A, B, C = (uuid.UUID(int=number).bytes for number in (1, 2, 3))


def held(id: bytes, write: int) -> LedgerEntry:
    return LedgerEntry(EntryKind.HELD, write, id, write.to_bytes(8))


def written(path: Path, *entries: LedgerEntry) -> Path:
    ledger = Ledger.create(path, Account())
    ledger.append(entries)
    ledger.close()
    return path


def read(path: Path) -> Account:
    account = read_ledger(path)
    assert account is not None
    return account


def test_the_last_write_of_a_point_counts(tmp_path: Path) -> None:
    account = read(written(tmp_path / "l", held(A, 1), held(B, 2), held(A, 3)))
    assert account.held == {A: held(A, 3), B: held(B, 2)}
    assert (account.last, account.entries, account.unreadable) == (3, 3, 0)


def test_what_is_going_may_be_there_and_what_is_gone_must_not(tmp_path: Path) -> None:
    going = written(tmp_path / "l", held(A, 1), held(B, 2), LedgerEntry(EntryKind.GOING, 0, A))
    assert (read(going).going, set(read(going).held)) == ({A}, {A, B})
    gone = written(
        tmp_path / "m",
        held(A, 1),
        LedgerEntry(EntryKind.GOING, 0, A),
        LedgerEntry(EntryKind.GONE, 2, A),
        held(B, 3),
    )
    account = read(gone)
    assert (account.going, set(account.held), account.gone) == (set(), {B}, {A: 2})
    assert account.erased == 1
    again = written(tmp_path / "n", held(A, 1), LedgerEntry(EntryKind.GONE, 2, A), held(A, 3))
    assert (set(read(again).held), read(again).gone) == ({A}, {})


def test_what_is_written_beside_its_deletion_may_go_with_it(tmp_path: Path) -> None:
    path = written(tmp_path / "l", held(A, 1), LedgerEntry(EntryKind.GOING, 0, A), held(A, 2))
    assert read(path).going == {A}


def test_erased_texts_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "l", held(A, 1), LedgerEntry(EntryKind.ERASED, 2, bytes(16)))
    assert read(path).erased == 1


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_torn_tail_loses_only_what_is_torn(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "l", held(A, 1), held(B, 2), held(C, 3))
    os.truncate(path, path.stat().st_size - cut)
    account = read(path)
    assert list(account.held) in ([A, B], [A])
    assert account.last == len(account.held)


def test_every_flipped_bit_is_noticed_and_harms_one_entry(tmp_path: Path) -> None:
    path = written(tmp_path / "l", held(A, 1), held(B, 2), held(C, 3))
    whole, account = path.read_bytes(), read(path)
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        found = read_ledger(path)
        if found is not None:  # None: it is no ledger any more
            assert found.unreadable == 1
            assert len(found.held) == 2
            assert found.held.items() <= account.held.items()


def test_none_is_told_from_an_empty_one(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "none") is None
    assert read(written(tmp_path / "l")) == Account()
    (tmp_path / "other").write_bytes(b"something else")
    assert read_ledger(tmp_path / "other") is None


def test_written_anew_it_says_the_same_in_short(tmp_path: Path) -> None:
    path = tmp_path / "l"
    entries = [held(A, write) for write in range(1, 500)]
    account = read(written(path, *entries, held(B, 500), LedgerEntry(EntryKind.GOING, 0, B)))
    assert account.is_worn
    size = path.stat().st_size
    Ledger.create(path, account).close()
    again = read(path)
    assert (again.held, again.going, again.last) == (account.held, account.going, account.last)
    assert path.stat().st_size < size / 100


def test_a_full_disk_leaves_no_half_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(tmp_path / "l", Account())
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:20]))
    with pytest.raises(OSError, match="No space"):
        ledger.append([held(A, 1)])
    monkeypatch.undo()
    ledger.append([held(B, 2)])
    ledger.close()
    account = read(tmp_path / "l")
    assert (set(account.held), account.unreadable) == ({B}, 0)


def test_it_knows_whether_its_folder_is_still_there(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    ledger = Ledger.create(folder / "l", Account())
    assert ledger.is_there
    folder.rename(tmp_path / "elsewhere")
    assert not ledger.is_there
    folder.mkdir()
    (folder / "l").write_bytes(b"another one")
    assert not ledger.is_there
    ledger.close()
