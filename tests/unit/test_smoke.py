"""The twins carry the whole of remember and recall."""

from chalicelib.domain.query import RecallQuery
from tests.building import caller, container


def test_what_was_remembered_is_recalled() -> None:
    services = container()
    ana = caller()
    services.remember.remember(ana, [{"content": "Ana lives in Porto"}], key=None, single=True)
    answer = services.recall.recall(ana, RecallQuery(query="where does Ana live?"))
    assert [hit["memory"]["content"] for hit in answer["hits"]] == ["Ana lives in Porto"]
