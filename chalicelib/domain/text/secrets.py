"""Secrets in text become labelled placeholders before anything is stored, embedded, logged or summarised.

The patterns are data: a label and an expression whose group `secret` is replaced, or the whole match where it has none.
Boundaries are ASCII's, so that a key which touches Han or kana is still one. They cover the documented formats of the
issuers named, and assignments to names that say what they hold.
"""

import functools
import re

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
    ("telegram_token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    ("azure_key", r"(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=(?P<secret>[A-Za-z0-9+/%=_-]{20,})"),
    ("vitto_key", r"\bvk_[0-9a-z]{8,}_[A-Za-z0-9_-]{20,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}"),
    ("url_password", r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s/:@]{0,200}:(?P<secret>[^\s/@]{1,500})@"),
    ("authorization", r"(?i)\b(?:authorization\s*:\s*)?(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)"),
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
    """`text` with every secret replaced, and the labels of what was found, each once, in order of the patterns."""
    found: list[str] = []
    for label, pattern in _compiled():

        def replace(match: re.Match[str], label: str = label) -> str:
            if "secret" not in match.re.groupindex:
                return placeholder(label)
            start, end = match.span("secret")
            whole = match.string
            return whole[match.start() : start] + placeholder(label) + whole[end : match.end()]

        text, count = pattern.subn(replace, text)
        if count:
            found.append(label)
    return text, tuple(found)
