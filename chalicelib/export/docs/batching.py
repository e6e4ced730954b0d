"""What one step of an export sends: pieces of any scopes, up to a bound, and what they make of the manifests."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from chalicelib.domain.docs import DocsFile, DocsPosition, ListedFile, ScopeManifest
from chalicelib.export.docs.walking import Piece

BATCH_FILES = 50
BATCH_BYTES = 1 << 20
BATCH_PIECES = 200  # of which most may stand at the target already
BATCH_SCOPES = 50


@dataclass
class Batch:
    """Pieces that go together."""

    everything: bool
    manifests: dict[str, ScopeManifest] = field(default_factory=dict)
    files: list[DocsFile] = field(default_factory=list)
    deletions: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to send it."""
        return (
            len(self.files) + len(self.deletions) >= BATCH_FILES
            or self.size >= BATCH_BYTES
            or len(self.pieces) >= BATCH_PIECES
            or len(self.manifests) >= BATCH_SCOPES
        )

    @property
    def position(self) -> DocsPosition:
        """Where its last piece leads."""
        return self.pieces[-1].position

    def add(self, piece: Piece, manifest: ScopeManifest) -> None:
        """Take a piece in; `manifest` is what stands of its scope at the target."""
        self.manifests.setdefault(manifest.scope_key, manifest)
        self.pieces.append(piece)
        self.deletions += piece.deletions
        if piece.file is None:
            return
        standing = manifest.by_path.get(piece.file.path)
        if self.everything or standing is None or standing.sha256 != piece.file.sha256:
            self.files.append(piece.file)
            self.size += len(piece.file.data)

    def announced(self) -> list[ScopeManifest]:
        """The manifests with the files that are about to be sent: what is cut off in between is known to be there."""
        sent = {file.path for file in self.files}
        return [
            _manifest(key, before, {path: file.model_copy(update={"sha256": ""}) for path, file in rendered.items()})
            for key, before in self.manifests.items()
            if (rendered := {path: file for path, file in self._rendered(key).items() if path in sent})
        ]

    def settled(self, refused: Mapping[str, str]) -> list[ScopeManifest]:
        """The manifests once all was sent but for what was refused."""
        gone = {path for path in self.deletions if path not in refused}
        arrived = []
        for key, before in self.manifests.items():
            files = {path: _arrived(file, refused) for path, file in self._rendered(key).items()}
            arrived.append(_manifest(key, before, files, gone))
        return arrived

    def _rendered(self, scope_key: str) -> dict[str, ListedFile]:
        of_scope = (piece.file for piece in self.pieces if piece.position.scope_key == scope_key)
        return {file.path: file.listed for file in of_scope if file}


def _arrived(file: ListedFile, refused: Mapping[str, str]) -> ListedFile:
    return file.model_copy(update={"sha256": ""}) if file.path in refused else file


def _manifest(
    key: str, before: ScopeManifest, files: Mapping[str, ListedFile], gone: Iterable[str] = ()
) -> ScopeManifest:
    listed = {path: file for path, file in (before.by_path | dict(files)).items() if path not in set(gone)}
    return ScopeManifest(scope_key=key, files=tuple(listed[path] for path in sorted(listed)))
