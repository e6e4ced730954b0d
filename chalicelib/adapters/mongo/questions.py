"""The prospective questions in MongoDB: one document a memory, whose `_id` makes it the only one."""

from collections.abc import Sequence

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.documents import vector_binary, vector_of
from chalicelib.adapters.mongo.indexes import QUESTIONS
from chalicelib.domain.keys import key
from chalicelib.domain.questions import Question, QuestionAuthor, QuestionSet
from chalicelib.domain.scope import Chain, ScopeRef


class MongoQuestionStore:
    """`ports.QuestionStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._sets = connection.database.get_collection(QUESTIONS)

    def put(self, questions: QuestionSet) -> QuestionSet:
        document = _to_document(questions)
        earlier = {"revision": {"$lt": questions.revision}}
        of_other_model = {"revision": questions.revision, "model": {"$ne": questions.model}}
        with self._connection.writing():
            try:
                gives_way = {"_id": document["_id"], "$or": [earlier, of_other_model]}
                self._sets.replace_one(gives_way, document, upsert=True)
            except DuplicateKeyError:
                pass
            else:
                return questions
        with self._connection.reading():
            standing = self._sets.find_one({"_id": document["_id"]})
        return _from_document(standing) if standing else questions

    def of(self, chain: Chain, ids: Sequence[str]) -> dict[str, QuestionSet]:
        query = {"_id": {"$in": [_id(chain.org_id, id_) for id_ in ids]}}
        with self._connection.reading():
            documents = list(self._sets.find(query).batch_size(len(ids) + 1))
        return {d["memoryId"]: _from_document(d) for d in documents if chain.holds(d["scopeKey"])}

    def of_scope(self, scope_key: str, *, after: str = "", limit: int = 200) -> list[str]:
        first = _id(ScopeRef.from_key(scope_key).org_id, after)
        query = {"scopeKey": scope_key, "_id": {"$gt": first}}
        with self._connection.scanning():
            return [d["memoryId"] for d in self._sets.find(query, {"memoryId": 1}).sort("_id", 1).limit(limit)]

    def remove(self, chain: Chain, ids: Sequence[str], *, up_to: int | None = None) -> int:
        query: Document = {"_id": {"$in": [_id(chain.org_id, id_) for id_ in ids]}}
        query["scopeKey"] = {"$in": list(chain.keys)}
        if up_to is not None:
            query["revision"] = {"$lte": up_to}
        with self._connection.writing():
            return self._sets.delete_many(query).deleted_count

    def erase(self, scope_key: str) -> int:
        with self._connection.writing():
            return self._sets.delete_many({"scopeKey": scope_key}).deleted_count


def _id(org_id: str, memory_id: str) -> str:
    return key(org_id, "questions", memory_id)


def _to_document(questions: QuestionSet) -> Document:
    return {
        "_id": _id(questions.org_id, questions.memory_id),
        "orgId": questions.org_id,
        "scopeKey": questions.scope_key,
        "memoryId": questions.memory_id,
        "revision": questions.revision,
        "textHash": questions.text_hash,
        "author": questions.author.value,
        "model": questions.model,
        "questions": [{"text": one.text, "embedding": vector_binary(one.vector)} for one in questions.questions],
        "terms": list(questions.terms),
    }


def _from_document(document: Document) -> QuestionSet:
    return QuestionSet(
        org_id=document["orgId"],
        scope_key=document["scopeKey"],
        memory_id=document["memoryId"],
        revision=document["revision"],
        text_hash=document["textHash"],
        author=QuestionAuthor(document["author"]),
        model=document["model"],
        questions=tuple(Question(one["text"], vector_of(one["embedding"])) for one in document["questions"]),
        terms=tuple(document["terms"]),
    )
