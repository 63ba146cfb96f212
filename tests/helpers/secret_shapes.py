"""Made-up secrets of every known shape, put together so that none stands in this file."""

from __future__ import annotations

import string

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
S = "\N{WHITE SQUARE}"
"""Where the secret goes in a text."""


def made(chance, length, alphabet=ALNUM):
    """Random signs with at least one digit and one letter."""
    signs = [chance.choice(alphabet) for _ in range(length)]
    signs[0] = chance.choice([sign for sign in alphabet if sign.isdigit()])
    signs[1] = chance.choice([sign for sign in alphabet if sign.isalpha()])
    return "".join(signs)


def _plain(start, length, alphabet=ALNUM, around=(S,)):
    """A secret with a known beginning, or one that only what stands around it tells."""

    def make(chance):
        secret = start + made(chance, length, alphabet)
        return chance.choice(around).replace(S, secret), secret

    return make


def _key(chance):
    body = "\n".join(made(chance, 64) for _ in range(3))
    name = "RSA PRIVATE" + " KEY"
    return f"-----BEGIN {name}-----\n{body}\n-----END {name}-----", body


def _webhook(chance):
    secret = f"T{made(chance, 8)}/B{made(chance, 8)}/{made(chance, 24)}"
    return f"https://hooks.slack.com/services/{secret}", secret


def _web_token(chance):
    secret = f"eyJ{made(chance, 20)}.eyJ{made(chance, 30)}.{made(chance, 40)}"
    return secret, secret


def _address(chance):
    secret = made(chance, 10) + chance.choice(["", "/", "@"]) + made(chance, 4)
    return f"postgres://admin:{secret}@db.test:5432/x", secret


def _letters(chance):
    secret = "".join(chance.choice(string.ascii_lowercase) for _ in range(9))
    return f"DB_PASSWORD={secret}", secret


SHAPES = {
    "private key": _key,
    "AWS access key": _plain("AKI" + "A", 16, UPPER),
    "AWS secret key": _plain("", 40, around=(f"aws_secret_access_key = {S}", f'"AWS": "{S}"')),
    "GitHub token": _plain("gh" + "p_", 36),
    "fine-grained GitHub token": _plain("github" + "_pat_", 50),
    "GitLab token": _plain("glp" + "at-", 20),
    "Anthropic key": _plain("sk-" + "ant-api03-", 40),
    "OpenAI key": _plain("sk-" + "proj-", 40),
    "old OpenAI key": _plain("sk" + "-", 40),
    "OpenRouter key": _plain("sk-" + "or-v1-", 40, HEX),
    "Stripe key": _plain("sk" + "_live_", 24),
    "Slack token": _plain("xox" + "b-", 30),
    "webhook": _webhook,
    "Google key": _plain("AIz" + "a", 35),
    "Google token": _plain("ya29" + ".", 40),
    "Hugging Face token": _plain("hf" + "_", 34),
    "npm token": _plain("npm" + "_", 36),
    "PyPI token": _plain("pyp" + "i-", 60),
    "SendGrid key": _plain("SG" + "." + "a" * 22 + ".", 43),
    "JSON web token": _web_token,
    "bearer token": _plain("", 32, around=(f"Authorization: Bearer {S}", f"bearer {S}")),
    "basic authorization": _plain("", 24, around=(f'"Authorization": "Basic {S}"',)),
    "password in an address": _address,
    "quoted password": _plain("", 9, around=(f'password = "{S}"', f"db_passwd: '{S}'", f'"CLIENT_SECRET": "{S}"')),
    "quoted key": _plain("", 24, around=(f'apiKey: "{S}"', f"api_key = '{S}'", f'"access-token": "{S}"')),
    "key in JSON in JSON": _plain("", 24, around=(f'{{\\"api_key\\": \\"{S}\\"}}',)),
    "line of an .env": _plain("", 24, around=(f"APP_SECRET={S}", f"API_KEY={S}", f"export GH_TOKEN={S}")),
    "password of letters in an .env": _letters,
    "YAML": _plain("", 18, around=(f"  secret: {S}", f"token: {S}")),
}
"""By kind: a function of a `random.Random` that gives a text with a secret in it, and the secret alone."""
