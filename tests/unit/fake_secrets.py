"""Secrets that open no door, put together at run time so that no scanner takes them for real ones."""

_LETTERS = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW0xYz"


def filler(length: int, alphabet: str = _LETTERS) -> str:
    """`length` characters that look random and are always the same."""
    return (alphabet * (length // len(alphabet) + 1))[:length]


_HEX = "0a1b2c3d4e5f6789"
_UPPER = "ABCDEFGHJKLMNPQR"
_PEM = "PRIVATE " + "KEY-----"
_TELEGRAM = "12345678" + "90:" + "AA" + filler(33)

FAKES: tuple[tuple[str, str], ...] = (
    ("private_key", f"-----BEGIN RSA {_PEM}\n{filler(64)}\n{filler(64)}\n-----END RSA {_PEM}"),
    ("private_key", f"-----BEGIN {_PEM}\n{filler(64)}"),
    ("private_key", f"-----BEGIN OPENSSH {_PEM}\n{filler(64)}\n-----END OPENSSH {_PEM}"),
    ("aws_access_key", "AK" + "IA" + filler(16, _UPPER)),
    ("aws_access_key", "AS" + "IA" + filler(16, _UPPER)),
    *(("github_token", f"gh{kind}" + "_" + filler(36)) for kind in "pousr"),
    ("github_token", "github" + "_pat_" + filler(40)),
    *(("gitlab_token", "gl" + kind + "-" + filler(20)) for kind in ("pat", "dt", "rt", "cbt", "ptt")),
    ("anthropic_key", "sk-" + "ant-" + filler(40)),
    *(("openai_key", "sk" + "-" + kind + filler(40)) for kind in ("", "proj-", "svcacct-", "admin-")),
    *(("stripe_key", f"{kind}_" + f"{mode}_" + filler(24)) for kind in ("sk", "rk", "pk") for mode in ("live", "test")),
    ("stripe_key", "wh" + "sec_" + filler(32)),
    ("google_key", "AI" + "za" + filler(35)),
    ("google_oauth", "ya" + "29." + filler(40)),
    ("google_oauth", "GOC" + "SPX-" + filler(28)),
    *(("slack_token", "xo" + f"x{kind}-" + filler(30)) for kind in "abeoprs"),
    ("slack_token", "xa" + "pp-" + filler(30)),
    ("slack_webhook", "https://hooks." + "slack.com/services/" + f"T{filler(8)}/B{filler(8)}/{filler(24)}"),
    ("sendgrid_key", "S" + "G." + filler(22) + "." + filler(43)),
    ("twilio_key", "S" + "K" + filler(32, _HEX)),
    ("npm_token", "np" + "m_" + filler(36)),
    ("pypi_token", "py" + "pi-" + filler(60)),
    ("huggingface_token", "h" + "f_" + filler(34)),
    *(("digitalocean_token", f"do{kind}" + "_v1_" + filler(64, _HEX)) for kind in "opr"),
    ("discord_webhook", "https://discord" + ".com/api/webhooks/" + "1234567890/" + filler(60)),
    ("teams_webhook", "https://acme.webhook." + "office.com/webhookb2/" + filler(36)),
    ("discord_token", "M" + filler(23) + "." + filler(6) + "." + filler(30)),
    ("shopify_token", "shp" + "at_" + filler(32, _HEX)),
    ("square_token", "sq0" + "atp-" + filler(22)),
    ("mailgun_key", "key" + "-" + filler(32, _HEX)),
    ("mailchimp_key", filler(32, _HEX) + "-us" + "12"),
    ("vault_token", "hv" + "s." + filler(30)),
    ("databricks_token", "da" + "pi" + filler(32, _HEX)),
    ("linear_key", "lin" + "_api_" + filler(40)),
    ("notion_token", "nt" + "n_" + filler(44)),
    ("airtable_token", "pa" + "t" + filler(14) + "." + filler(64, _HEX)),
    *(("model_provider_key", kind + filler(40)) for kind in ("gs" + "k_", "xa" + "i-", "ppl" + "x-", "r" + "8_")),
    ("postman_key", "PM" + "AK-" + filler(24, _HEX) + "-" + filler(34, _HEX)),
    ("figma_token", "fig" + "d_" + filler(40)),
    ("grafana_token", "gl" + "sa_" + filler(40)),
    ("newrelic_key", "NR" + "AK-" + filler(27, _UPPER)),
    ("sentry_token", "sntr" + "ys_" + filler(40)),
    ("atlassian_token", "ATA" + "TT3" + filler(60)),
    ("azure_client_secret", filler(3) + "8Q" + "~" + filler(34)),
    ("cloud_database_token", "psca" + "le_pw_" + filler(40)),
    ("cloud_database_token", "sb" + "p_" + filler(40)),
    ("age_key", "AGE-SECRET" + "-KEY-1" + filler(58, _UPPER)),
    ("connection_string", "Server=db;User=ana;Pass" + "word=" + filler(12)),
    ("telegram_token", _TELEGRAM),
    ("azure_key", "Account" + "Key=" + filler(44) + "=="),
    ("azure_key", "SharedAccess" + "Key=" + filler(43) + "="),
    ("vitto_key", "v" + "k_" + "01k5zzzzzzzz" + "_" + filler(43)),
    ("jwt", "ey" + "J" + filler(20) + "." + "ey" + "J" + filler(40) + "." + filler(43)),
    ("url_password", "postgres://ana:" + filler(12) + "@db.example.com/app"),
    ("url_password", "redis://:" + filler(12) + "@cache.example.com:6379"),
    ("authorization", "Authorization: " + "Bearer " + filler(24)),
    ("authorization", "basic " + filler(24) + "=="),
    *(
        ("assigned_secret", name + filler(16))
        for name in (
            "pass" + "word=",
            "pass" + "word: ",
            "pass" + "word is ",
            "DB_PASS" + "WORD=",
            '"client_sec' + 'ret": "',
            "aws_secret_" + "access_key = ",
            "api" + "-key: ",
            "API" + "_KEY=",
            "access" + "Token: ",
            "pass" + "phrase: ",
            "sec" + "ret=",
        )
    ),
)
"""A label of `secrets.redact` with a text of that kind; every label has one."""


def secret_part(fake: str) -> str:
    """What of a fake must not survive: 8 characters of its filler, or of what is like one."""
    return next(part for part in (_LETTERS[2:10], _HEX[2:10], _UPPER[2:10]) if part in fake)


AWS_KEY = next(fake for label, fake in FAKES if label == "aws_access_key")
"""One that stands for all where the kind does not matter."""
