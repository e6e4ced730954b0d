"""Something of a person in every store, for tests of giving it out and taking it away."""

from typing import Any

from chalicelib.bootstrap import Ports
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.docs import DocsCheckpoint, DocsExportProgress, DocsPosition, ListedFile, ScopeManifest
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.keys import key, new_id
from chalicelib.domain.memory import ArchivedReason, Claim, Origin, Revision, Status
from chalicelib.domain.questions import Question, QuestionAuthor, QuestionSet
from chalicelib.domain.scope import Scope
from chalicelib.domain.session import KeptMessage, Session, Snapshot
from chalicelib.domain.soul import Soul, StoredSoul
from tests.building import EMBEDDER, NOW, api_key, event, record, row

SPACE: dict[str, Any] = {"scope": Scope.SPACE, "scope_id": "red"}


def session(org: str, owner: str, *members: str) -> Session:
    """A session that was just begun."""
    return Session(
        id=new_id("ses"),
        org_id=org,
        owner=owner,
        members=members,
        created_at=NOW,
        incarnation=new_id("inc"),
        snapshots=(Snapshot(user_id=owner, text=f"what is known of {owner}"),),
    )


def kept(text: str, author: str | None) -> KeptMessage:
    """A message that was not appended yet."""
    role = "user" if author else "assistant"
    made = SessionMessage(id=new_id("m"), position=0, role=role, author=author, text=text, at=NOW)
    return KeptMessage(made, {"word": 1}, 1, extract=True)


def fill(ports: Ports, org: str, user: str = "ana") -> tuple[Session, Session]:
    """Have the stores hold something of the user; a session of theirs alone, and one that bob belongs to."""
    own: dict[str, Any] = {"org_id": org, "user_id": user}
    mine = [
        row("Ana lives in Porto", **own, scope_id=user),
        row(
            "Ana lived in Lisbon",
            **own,
            scope_id=user,
            status=Status.ARCHIVED,
            archived_reason=ArchivedReason.FORGOTTEN,
        ),
        row("perhaps Ana likes tea", **own, scope_id=user, status=Status.QUARANTINED),
    ]
    past = Revision(revision=1, content="at one", edited_by=user, edited_at=NOW)
    said = Origin(session_id="s1", speaker=user)
    others = [
        row("the team meets at noon", **own, **SPACE, history=(past,), edited_by=user, promoted_by=user, revision=2),
        row("I live in Porto", org_id=org, user_id="bob", **SPACE, origin=said, admission={"trustedBy": user}),
        row(
            "bob is here",
            org_id=org,
            user_id="bob",
            **SPACE,
            claims=(Claim(subject=user, attribute="role", value="x"),),
        ),
        row("bob alone", org_id=org, user_id="bob", scope_id="bob"),
    ]
    ports.store.insert([*mine, *others])
    ports.questions.put(_questions(org, mine[0].memory.scope_ref.key, mine[0].memory.id))
    ports.store.take_statistics(mine[0].memory.scope_ref.key)
    for who in (user, "bob"):
        ports.keys.add(api_key(org, user_id=who, created_by=user))
        ports.audit.add([event(org, actor=who, details={"author": user, "scope": "user", "scopeId": user})])
        ports.recalls.add([record(org, user_id=who)])
        ports.user_genomes.put(org, UserGenome(user_id=who, version=1), 0)
        ports.receipts.reserve(org, key("self", who), "k", "hash", NOW)
        ports.receipts.reserve(org, key("acting", "key1", who), "k", "hash", NOW)
    theirs = mine[0].memory.scope_ref.key
    ports.docs_ledger.keep_manifest("there", ScopeManifest(scope_key=theirs, files=(ListedFile(path="users/x.md"),)))
    run = DocsExportProgress(org_id=org, destination="there")
    ports.docs_ledger.keep("there", DocsCheckpoint(progress=run, position=DocsPosition(scope_key=theirs), version=1))
    ports.souls.put(org, StoredSoul(soul=Soul(name="Vi"), updated_at=NOW, updated_by=user))
    alone, together = session(org, user), session(org, user, "bob")
    for one in (alone, together):
        ports.sessions.open(one)
        ports.sessions.append(one, [kept("my word", user), kept("yes", None), kept("more of mine", user)])
        genome = ConversationGenome(session_id=one.id, user_id=user, version=1)
        ports.genomes.put(one.key, genome, 0)
    ports.sessions.append(together, [kept("bob's word", "bob")])
    return alone, together


def _questions(org: str, scope_key: str, id_: str) -> QuestionSet:
    vector = EMBEDDER.embed_query("where?")
    return QuestionSet(
        org, scope_key, id_, 1, "hash", QuestionAuthor.HEURISTIC, EMBEDDER.passage_model, (Question("where?", vector),)
    )
