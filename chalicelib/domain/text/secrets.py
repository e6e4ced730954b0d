"""Secrets in text become labelled placeholders before anything is stored, embedded, logged or summarised.

The patterns are data: a label and an expression whose group `secret` is replaced, or the whole match where it has none.
Boundaries are ASCII's, so that a key which touches Han or kana is still one. They cover the documented formats of the
issuers named, and assignments to names that say what they hold.
"""

import functools
import re
import unicodedata

from chalicelib.domain.text.injection_views import LATIN, UNSEEN

_PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "private_key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    ("aws_access_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    ("github_token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})"),
    ("gitlab_token", r"\bgl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{20,}"),
    ("anthropic_key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai_key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}"),
    ("stripe_key", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{20,}"),
    ("google_key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("google_oauth", r"\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("slack_token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}"),
    ("slack_webhook", r"https://hooks\.slack\.com/services/[A-Za-z0-9/_-]+"),
    ("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("twilio_key", r"\bSK[0-9a-f]{32}\b"),
    ("npm_token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi_token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("huggingface_token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("digitalocean_token", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("discord_webhook", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]+"),
    (
        "teams_webhook",
        r"https://[\w.-]{1,100}\.(?:webhook\.office\.com|logic\.azure\.com)[:/][A-Za-z0-9@/_.?=&%:-]{20,}",
    ),
    ("discord_token", r"\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ("shopify_token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b"),
    ("square_token", r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    ("mailgun_key", r"\bkey-[0-9a-f]{32}\b"),
    ("mailchimp_key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("vault_token", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("databricks_token", r"\bdapi[0-9a-f]{32}\b"),
    ("linear_key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("notion_token", r"\b(?:secret_|ntn_)[A-Za-z0-9]{40,}"),
    ("airtable_token", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("model_provider_key", r"\b(?:gsk_|xai-|pplx-|r8_|nvapi-|fw_)[A-Za-z0-9_-]{30,}"),
    ("postman_key", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    ("figma_token", r"\bfig[dou]_[A-Za-z0-9_-]{30,}"),
    ("grafana_token", r"\bgl(?:sa|c)_[A-Za-z0-9+/=_-]{32,}"),
    ("newrelic_key", r"\bNRAK-[A-Z0-9]{27}\b"),
    ("sentry_token", r"\bsntry[su]_[A-Za-z0-9+/=_-]{30,}"),
    ("atlassian_token", r"\bATATT3[A-Za-z0-9_=-]{50,}"),
    ("azure_client_secret", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("cloud_database_token", r"\b(?:pscale_(?:tkn|pw|oauth)_|sbp_|dp\.(?:pt|st|ct)\.)[A-Za-z0-9_.-]{30,}"),
    ("age_key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("telegram_token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("azure_key", r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=(?P<secret>[A-Za-z0-9+/%=_-]{20,})"),
    ("vitto_key", r"\bvk_[0-9a-z]{8,}_[A-Za-z0-9_-]{20,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"),
    ("url_password", r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s/:@]{0,200}:(?P<secret>[^\s/@]{1,500})@"),
    ("authorization", r"(?i)\b(?:authorization\s*:\s*)?(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
    ("connection_string", r"(?i);\s?(?:password|pwd)\s?=\s?(?P<secret>[^;\s\"'\[\]]{4,200})"),
    (
        "assigned_secret",
        (
            r"(?i)(?:\b|_)(?:aws_secret_access_key|secret[_-]?access[_-]?key|client[_-]?secret|api[_-]?key|access[_-]?token|auth[_-]?token"
            r"|refresh[_-]?token|private[_-]?key|secret[_-]?key|encryption[_-]?key|password|passwd|passphrase|pwd|secret|token)"
            r"[\"']?\s*(?:=|:|\bis\b)\s*[\"'`]?(?P<secret>(?=[^\s\"'`]{0,200}[0-9!#$%&*+/=?@^~])[^\s\"'`,;\[\]]{8,})"
        ),
    ),
)


@functools.cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((label, re.compile(pattern, re.DOTALL | re.ASCII)) for label, pattern in _PATTERNS)


def placeholder(label: str) -> str:
    """What stands where a secret of that kind stood."""
    return f"[REDACTED:{label}]"


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """`text` with every secret replaced, and the labels of what was found, each once, in order of the patterns.

    A secret is one too where invisible characters split it, or where lookalike letters of other scripts stand in it."""
    found: dict[str, None] = {}
    for label, pattern in _compiled():
        text, count = pattern.subn(functools.partial(_replaced, label), text)
        if count:
            found[label] = None
    if not text.isascii():
        text = _undisguised(text, found)
    return text, tuple(label for label, _ in _compiled() if label in found)


def _replaced(label: str, match: re.Match[str]) -> str:
    start, end = _span(match)
    whole = match.string
    return whole[match.start() : start] + placeholder(label) + whole[end : match.end()]


def _span(match: re.Match[str]) -> tuple[int, int]:
    return match.span("secret") if "secret" in match.re.groupindex else match.span()


def _undisguised(text: str, found: dict[str, None]) -> str:
    """`text` without the secrets that show once what disguises them is taken off; the rest of it stays as it is."""
    bare, places = _bare(text)
    if bare == text:
        return text
    spans = [(*_span(match), label) for label, pattern in _compiled() for match in pattern.finditer(bare)]
    kept, until = "", 0
    for start, end, label in sorted(spans):
        if places[start] >= until:
            kept += text[until : places[start]] + placeholder(label)
            until = places[end - 1] + 1
            found[label] = None
    return kept + text[until:]


def _bare(text: str) -> tuple[str, list[int]]:
    """The text as it is read, character by character, and the place of each in `text`."""
    kept = [(_read_as(character), i) for i, character in enumerate(text) if not UNSEEN.match(character)]
    return "".join(character for character, _ in kept), [i for _, i in kept]


@functools.lru_cache(maxsize=4096)
def _read_as(character: str) -> str:
    if character.isascii():
        return character
    plain = unicodedata.normalize("NFKC", character)
    return LATIN.get(ord(plain), plain) if len(plain) == 1 else character
