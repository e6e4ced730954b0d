"""A backup put back: all of it, and nothing of who was erased since."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.bootstrap import Container, Ports
from chalicelib.domain.caller import Role
from chalicelib.domain.erasure import ErasureState, Person
from chalicelib.domain.keys import new_id
from chalicelib.settings import ErasureSettings, MongoSettings, Settings
from tests.building import caller
from tests.integration.arrangements import services
from tests.personal import fill
from vitto_tools.cli import backup as command
from vitto_tools.cli.__main__ import app


class Product:
    """The product over a database of this test alone."""

    def __init__(self, url: str) -> None:
        limits: dict[str, Any] = {"read_seconds": 20, "search_seconds": 20, "write_seconds": 30}
        self.mongo = MongoConnection(MongoSettings(uri=url, database=new_id("backup"), **limits))
        self.made = at_once(services(self.mongo, None).ports)

    def documents(self) -> dict[str, list[Any]]:
        """Everything that it holds, but for receipts of erasures."""
        names = sorted(set(self.mongo.database.list_collection_names()) - {"erasures"})
        held = {name: list(self.mongo.database.get_collection(name).find().sort("_id", 1)) for name in names}
        return {name: documents for name, documents in held.items() if documents}

    def left(self, person: Person) -> int:
        """How much is kept of a person."""
        return self.made.personal.check.left(person, None, lambda: False).total


def at_once(ports: Ports) -> Container:
    """The product with no time between the two looks of an erasure."""
    return Container(Settings(erasure=ErasureSettings(grace_seconds=0)), ports)


@pytest.fixture
def product(mongo_url: str) -> Iterator[Product]:
    """A living store, and in it what `fill` leaves of ana and bob in two organizations."""
    made = Product(mongo_url)
    for org in ("acme", "other"):
        fill(made.made.ports, org)
    yield made
    made.mongo.client.drop_database(made.mongo.database.name)
    made.mongo.client.close()


@pytest.fixture
def fresh(mongo_url: str) -> Iterator[Product]:
    """An empty store."""
    made = Product(mongo_url)
    yield made
    made.mongo.client.drop_database(made.mongo.database.name)
    made.mongo.client.close()


def run(monkeypatch: pytest.MonkeyPatch, on: Product, *arguments: str | Path, code: int = 0) -> str:
    """What a command says that acts on that store."""
    monkeypatch.setattr(command, "settings", Settings)
    monkeypatch.setattr(command, "mongo_connection", lambda _: on.mongo)
    monkeypatch.setattr(command, "_services", lambda: on.made)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def test_what_is_put_back_is_what_was_there_to_the_byte(
    product: Product, fresh: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "all.gz"
    run(monkeypatch, product, "backup", file)
    run(monkeypatch, fresh, "restore", file)
    assert fresh.documents() == product.documents()
    assert oct(file.stat().st_mode)[-3:] == "600"
    assert "not empty" in run(monkeypatch, fresh, "restore", file, code=1)
    run(monkeypatch, fresh, "restore", file, "--replace")
    assert fresh.documents() == product.documents()


def test_a_person_who_was_erased_since_stays_erased_wherever_the_backup_is_put_back(
    product: Product, fresh: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, log = tmp_path / "all.gz", tmp_path / "erasures.jsonl"
    ana, root = Person("acme", "ana"), caller("acme", "root", Role.ADMIN)
    run(monkeypatch, product, "backup", file)
    others = {person: product.left(person) for person in (Person("acme", "bob"), Person("other", "ana"))}
    receipt = product.made.personal.erasing.start(root, "ana")
    assert receipt.finished_at
    run(monkeypatch, product, "erasures", "--out", log)
    assert '"ana"' not in log.read_text()

    said = run(monkeypatch, fresh, "restore", file, "--erasures", log)
    assert "1 erasures taken over; 1 persons erased again" in said
    said = run(monkeypatch, product, "restore", file, "--replace")  # the living store knows it by itself
    assert "0 erasures taken over; 1 persons erased again" in said
    for store in (fresh, product):
        assert store.left(ana) == 0
        assert {person: store.left(person) for person in others} == others
        record = store.made.personal.check.record(ana)
        assert record.earlier == (receipt,)
        assert record.receipt.counts["memories"].removed == 3


def test_an_erasure_that_waits_for_its_second_look_leaves_nobody_unprotected(
    product: Product, fresh: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, log = tmp_path / "all.gz", tmp_path / "erasures.jsonl"
    ana, root = Person("acme", "ana"), caller("acme", "root", Role.ADMIN)
    run(monkeypatch, product, "backup", file)
    first = product.made.personal.erasing.start(root, "ana")
    waiting = Container(Settings(), product.made.ports).personal.erasing.start(root, "ana")
    assert (first.state, waiting.state) == (ErasureState.FINISHED, ErasureState.SETTLING)
    said = run(monkeypatch, product, "erasures", "--out", log, code=1)
    assert "1 erasures written" in said
    assert "1 more are not finished yet" in said
    assert first.id in log.read_text()
    assert '"ana"' not in log.read_text()
    assert waiting.id not in log.read_text()
    run(monkeypatch, fresh, "restore", file, "--erasures", log)
    assert "second look" not in run(monkeypatch, product, "restore", file, "--replace")
    for store in (fresh, product):
        assert store.left(ana) == 0
        record = store.made.personal.check.record(ana)
        assert record.receipt.state is ErasureState.FINISHED
        assert record.receipt.counts["memories"].removed == 3


def test_an_erasure_from_before_the_backup_is_not_done_again_to_one_who_came_back(
    product: Product, fresh: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, log = tmp_path / "all.gz", tmp_path / "erasures.jsonl"
    ana = caller("acme", "ana")
    product.made.personal.erasing.start(caller("acme", "root", Role.ADMIN), "ana")
    product.made.remember.remember(ana, [{"content": "Ana is back in Porto"}], key=None, single=True)
    run(monkeypatch, product, "backup", file)
    run(monkeypatch, product, "erasures", "--out", log)
    run(monkeypatch, fresh, "restore", file, "--erasures", log)
    assert fresh.left(Person("acme", "ana")) == 1


def test_a_restore_by_other_tools_is_followed_by_the_erasures_since(
    product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "erasures.jsonl"
    product.made.personal.erasing.start(caller("acme", "root", Role.ADMIN), "ana")
    run(monkeypatch, product, "erasures", "--out", log)
    product.mongo.database.drop_collection("erasures")
    for name in product.documents():
        product.mongo.database.drop_collection(name)
    fill(product.made.ports, "acme")
    assert product.left(Person("acme", "ana"))
    assert "needs --since" in run(monkeypatch, product, "erasures", "--apply", log, code=1)
    said = run(monkeypatch, product, "erasures", "--apply", log, "--since", "2026-01-01T00:00:00")
    assert "1 persons erased again" in said
    assert product.left(Person("acme", "ana")) == 0
    again = run(monkeypatch, product, "erasures", "--apply", log, "--since", "2026-01-01T00:00:00")
    assert "0 erasures taken over; 0 persons erased again" in again


def test_a_file_that_is_not_whole_is_refused_before_anything_is_touched(
    product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, bad = tmp_path / "all.gz", tmp_path / "bad.gz"
    run(monkeypatch, product, "backup", file)
    before = product.documents()
    text = gzip.decompress(file.read_bytes())
    for broken in (
        file.read_bytes()[:-20],
        gzip.compress(text.replace(b"Porto", b"Lisbon", 1)),
        gzip.compress(b"\n".join(text.split(b"\n")[:-1])),
        gzip.compress(b"{}\n"),
        b"no gzip",
    ):
        bad.write_bytes(broken)
        assert str(bad.name) in run(monkeypatch, product, "restore", bad, "--replace", code=1)
    assert product.documents() == before
