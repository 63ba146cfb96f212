"""The invented project of the first sample: the booking site of a rowing club."""

VIEWS = '''"""Pages of signing in and out."""

from __future__ import annotations

from flask import Blueprint, current_app, flash, redirect, render_template, request, url_for

from harbor.auth import service, sessions
from harbor.auth.forms import LoginForm, ResetForm
from harbor.auth.models import Member
from harbor.mail import send_reset_mail

bp = Blueprint("auth", __name__, url_prefix="/auth")


@bp.get("/login")
def login_form():
    """Show the form; members who are signed in already go to their bookings."""
    if sessions.current_member(request) is not None:
        return redirect(url_for("bookings.mine"))
    return render_template("auth/login.html", form=LoginForm(), next=request.args.get("next", ""))


@bp.post("/login")
def login():
    """Check the password and start a session."""
    form = LoginForm(request.form)
    if not form.validate():
        return render_template("auth/login.html", form=form, next=form.next.data), 400
    member = Member.by_mail(form.mail.data)
    result = service.check_password(member, form.password.data)
    if result.ok:
        response = redirect(form.next.data or url_for("bookings.mine"))
        sessions.start(response, member, remember=form.remember.data)
        current_app.logger.info("member %s signed in", member.id)
        return response
    flash("Mail address or password is wrong.", "error")
    return render_template("auth/login.html", form=form, next=form.next.data), 401


@bp.post("/logout")
def logout():
    """End the session of this browser only."""
    response = redirect(url_for("pages.start"))
    sessions.end(request, response)
    return response


@bp.route("/reset", methods=["GET", "POST"])
def reset():
    """Ask for a mail with a link. The answer never tells whether the address is known."""
    form = ResetForm(request.form)
    if request.method == "POST" and form.validate():
        member = Member.by_mail(form.mail.data)
        if member is not None and member.active:
            send_reset_mail(member, service.reset_token(member))
        flash("If this address belongs to a member, a mail is on its way.", "info")
        return redirect(url_for("auth.login_form"))
    return render_template("auth/reset.html", form=form)


@bp.route("/reset/<token>", methods=["GET", "POST"])
def reset_confirm(token: str):
    """Set a new password with the link from the mail."""
    member = service.member_of_token(token)
    if member is None:
        flash("This link is no longer valid.", "error")
        return redirect(url_for("auth.reset"))
    form = ResetForm(request.form)
    if request.method == "POST" and form.validate_new_password():
        service.set_password(member, form.password.data)
        sessions.end_all(member)
        flash("The new password is set. Please sign in.", "info")
        return redirect(url_for("auth.login_form"))
    return render_template("auth/reset_confirm.html", form=form, token=token)
'''

SERVICE = '''"""Passwords, locks and tokens. Knows nothing of requests and pages."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from harbor.auth.models import Member, ResetToken
from harbor.db import db
from harbor.settings import settings


class AccountLocked(Exception):
    """Raised while a member is locked out after too many wrong passwords."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"locked until {until:%H:%M}")
        self.until = until


@dataclass(frozen=True)
class Check:
    """What came of a password check."""

    ok: bool
    attempts_left: int


def check_password(member: Member | None, password: str) -> Check:
    """Compare in constant time, count wrong attempts, lock after too many.

    An unknown member costs as much time as a known one, so that addresses cannot be guessed.
    """
    if member is None:
        _hash(password, b"0" * 16)
        return Check(ok=False, attempts_left=0)
    if member.locked_until is not None and member.locked_until > datetime.now(UTC):
        raise AccountLocked(member.locked_until)
    given = _hash(password, member.salt)
    if hmac.compare_digest(given, member.password_hash):
        member.wrong_attempts = 0
        member.locked_until = None
        member.last_login = datetime.now(UTC)
        db.session.commit()
        return Check(ok=True, attempts_left=settings.login.attempts)
    member.wrong_attempts += 1
    if member.wrong_attempts >= settings.login.attempts:
        member.locked_until = datetime.now(UTC) + timedelta(minutes=settings.login.lock_minutes)
        member.wrong_attempts = 0
    db.session.commit()
    return Check(ok=False, attempts_left=settings.login.attempts - member.wrong_attempts)


def set_password(member: Member, password: str) -> None:
    """Store a new password under a new salt and lift a lock."""
    member.salt = secrets.token_bytes(16)
    member.password_hash = _hash(password, member.salt)
    member.locked_until = None
    member.wrong_attempts = 0
    ResetToken.query.filter_by(member_id=member.id).delete()
    db.session.commit()


def reset_token(member: Member) -> str:
    """A new token for a reset link; older ones stop working."""
    ResetToken.query.filter_by(member_id=member.id).delete()
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    expires = datetime.now(UTC) + timedelta(minutes=settings.login.reset_minutes)
    db.session.add(ResetToken(member_id=member.id, digest=digest, expires=expires))
    db.session.commit()
    return token


def member_of_token(token: str) -> Member | None:
    """The member of a token that is still good, else None."""
    digest = hashlib.sha256(token.encode()).hexdigest()
    found = ResetToken.query.filter_by(digest=digest).one_or_none()
    if found is None or found.expires < datetime.now(UTC):
        return None
    return db.session.get(Member, found.member_id)


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
'''

SESSIONS = '''"""Sessions in the browser (cookie) and on phones (bearer token). Both live in the table `sessions`."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from flask import Request, Response

from harbor.auth.models import Member, SessionRow
from harbor.db import db

COOKIE = "harbor_session"
SESSION_TTL = timedelta(days=14)
"""The mobile app renews its token on day 13. See docs/mobile-api.md before you change this."""


def start(response: Response, member: Member, *, remember: bool) -> SessionRow:
    """A new session for this browser."""
    row = SessionRow(
        token=secrets.token_urlsafe(32),
        member_id=member.id,
        created=datetime.now(UTC),
        expires=datetime.now(UTC) + SESSION_TTL,
        device="browser",
    )
    db.session.add(row)
    db.session.commit()
    response.set_cookie(
        COOKIE,
        row.token,
        max_age=int(SESSION_TTL.total_seconds()) if remember else None,
        secure=True,
        httponly=True,
        samesite="Lax",
    )
    return row


def start_for_phone(member: Member, device: str) -> SessionRow:
    """A new session for the app; the caller returns the token as JSON."""
    row = SessionRow(
        token=secrets.token_urlsafe(32),
        member_id=member.id,
        created=datetime.now(UTC),
        expires=datetime.now(UTC) + SESSION_TTL,
        device=device[:80],
    )
    db.session.add(row)
    db.session.commit()
    return row


def current_member(request: Request) -> Member | None:
    """The member of the cookie or of the bearer token, if the session is still good."""
    token = request.cookies.get(COOKIE, "")
    header = request.headers.get("Authorization", "")
    if header.startswith("Bearer "):
        token = header.removeprefix("Bearer ")
    if not token:
        return None
    row = db.session.get(SessionRow, token)
    if row is None or row.expires < datetime.now(UTC):
        return None
    return db.session.get(Member, row.member_id)


def end(request: Request, response: Response) -> None:
    """Forget the session of this browser."""
    token = request.cookies.get(COOKIE, "")
    SessionRow.query.filter_by(token=token).delete()
    db.session.commit()
    response.delete_cookie(COOKIE)


def end_all(member: Member) -> int:
    """End every session of a member; returns how many there were."""
    count = SessionRow.query.filter_by(member_id=member.id).delete()
    db.session.commit()
    return count
'''

MODELS = '''"""Tables of members and their sessions."""

from __future__ import annotations

from harbor.db import UtcDateTime, db


class Member(db.Model):
    """A member of the club who can sign in."""

    __tablename__ = "members"

    id = db.Column(db.Integer, primary_key=True)
    mail = db.Column(db.String(200), unique=True, nullable=False)
    name = db.Column(db.String(120), nullable=False)
    boat_licence = db.Column(db.String(1), nullable=False, default="-")
    active = db.Column(db.Boolean, nullable=False, default=True)
    salt = db.Column(db.LargeBinary(16), nullable=False)
    password_hash = db.Column(db.LargeBinary(64), nullable=False)
    wrong_attempts = db.Column(db.Integer, nullable=False, default=0)
    locked_until = db.Column(UtcDateTime, nullable=True)
    last_login = db.Column(UtcDateTime, nullable=True)

    @classmethod
    def by_mail(cls, mail: str) -> Member | None:
        """The member with this address, upper or lower case, or None."""
        return cls.query.filter(db.func.lower(cls.mail) == mail.strip().lower()).one_or_none()


class SessionRow(db.Model):
    """One browser or phone that is signed in."""

    __tablename__ = "sessions"

    token = db.Column(db.String(64), primary_key=True)
    member_id = db.Column(db.Integer, db.ForeignKey("members.id"), nullable=False)
    created = db.Column(UtcDateTime, nullable=False)
    expires = db.Column(UtcDateTime, nullable=False)
    device = db.Column(db.String(80), nullable=False)


class ResetToken(db.Model):
    """A link to set a new password; only its digest is stored."""

    __tablename__ = "reset_tokens"

    id = db.Column(db.Integer, primary_key=True)
    member_id = db.Column(db.Integer, db.ForeignKey("members.id"), nullable=False)
    digest = db.Column(db.String(64), unique=True, nullable=False)
    expires = db.Column(UtcDateTime, nullable=False)
'''

SETTINGS = '''"""Settings of the site, from config/*.toml; every value has a default that is safe."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

CONFIG = Path(__file__).resolve().parent.parent / "config"


@dataclass(frozen=True)
class Login:
    """Signing in."""

    attempts: int = 5
    lock_minutes: int = 15
    reset_minutes: int = 60


@dataclass(frozen=True)
class Booking:
    """Boats and times."""

    days_ahead: int = 21
    max_open: int = 4
    quiet_from: str = "21:30"
    quiet_until: str = "05:30"


@dataclass(frozen=True)
class Settings:
    """All of it."""

    login: Login = field(default_factory=Login)
    booking: Booking = field(default_factory=Booking)
    base_url: str = "https://boats.example.org"
    mail_from: str = "boathouse@example.org"


def load(folder: Path = CONFIG) -> Settings:
    """Read what is there; unknown keys are an error, so that a typo does not pass."""
    def section(name: str) -> dict:
        file = folder / f"{name}.toml"
        return tomllib.loads(file.read_text("utf-8")) if file.exists() else {}

    return Settings(login=Login(**section("login")), booking=Booking(**section("booking")), **section("site"))


settings = load()
'''

LOGIN_HTML = """{% extends "base.html" %}
{% block title %}Sign in{% endblock %}
{% block content %}
<section class="card narrow">
  <h1>Sign in to the boathouse</h1>
  {% for category, message in get_flashed_messages(with_categories=true) %}
    <p class="notice {{ category }}" role="alert">{{ message }}</p>
  {% endfor %}
  <form method="post" action="{{ url_for('auth.login') }}" novalidate>
    <input type="hidden" name="csrf" value="{{ csrf_token() }}">
    <input type="hidden" name="next" value="{{ next }}">
    <label for="mail">Mail address</label>
    <input id="mail" name="mail" type="email" autocomplete="username" required value="{{ form.mail.data or '' }}">
    {% for error in form.mail.errors %}<p class="error">{{ error }}</p>{% endfor %}
    <label for="password">Password</label>
    <input id="password" name="password" type="password" autocomplete="current-password" required>
    {% for error in form.password.errors %}<p class="error">{{ error }}</p>{% endfor %}
    <label class="check"><input type="checkbox" name="remember" value="1"> Keep me signed in on this device</label>
    <button type="submit" class="primary">Sign in</button>
    <p><a href="{{ url_for('auth.reset') }}">Forgotten your password?</a></p>
  </form>
</section>
{% endblock %}
"""

TEST_LOGIN = '''"""Signing in, through the pages."""

from datetime import UTC, datetime, timedelta

import pytest

from harbor.auth.models import Member, SessionRow
from harbor.settings import settings


@pytest.fixture
def ada(members):
    return members.make(mail="ada@example.org", password="correct horse")


def sign_in(client, mail, password, **extra):
    return client.post("/auth/login", data={"mail": mail, "password": password, **extra})


def test_right_password_starts_a_session(client, ada):
    response = sign_in(client, "ada@example.org", "correct horse")
    assert response.status_code == 302
    assert SessionRow.query.filter_by(member_id=ada.id).count() == 1


def test_mail_address_may_be_in_upper_case(client, ada):
    assert sign_in(client, "ADA@example.org", "correct horse").status_code == 302


def test_wrong_password_is_told_without_saying_which_part_is_wrong(client, ada):
    response = sign_in(client, "ada@example.org", "wrong")
    assert response.status_code == 401
    assert "Mail address or password is wrong." in response.text


def test_unknown_address_gets_the_same_answer(client):
    response = sign_in(client, "nobody@example.org", "wrong")
    assert response.status_code == 401
    assert "Mail address or password is wrong." in response.text


def test_account_is_locked_after_too_many_attempts(client, ada):
    for _ in range(settings.login.attempts):
        sign_in(client, "ada@example.org", "wrong")
    member = Member.by_mail("ada@example.org")
    assert member.locked_until > datetime.now(UTC) + timedelta(minutes=14)


def test_remember_keeps_the_cookie_for_two_weeks(client, ada):
    response = sign_in(client, "ada@example.org", "correct horse", remember="1")
    cookie = response.headers["Set-Cookie"]
    assert "Max-Age=1209600" in cookie


def test_without_remember_the_cookie_ends_with_the_browser(client, ada):
    response = sign_in(client, "ada@example.org", "correct horse")
    assert "Max-Age" not in response.headers["Set-Cookie"]


def test_next_is_followed_only_inside_the_site(client, ada):
    response = sign_in(client, "ada@example.org", "correct horse", next="https://evil.example/")
    assert response.headers["Location"].startswith("/")
'''

MOBILE = """# Mobile API

The app (iOS 4.2+, Android 4.1+) talks to the same tables as the site. It is released twice a year, so the server must not
change under it.

## Sessions

`POST /api/session` with `mail`, `password` and `device` answers `{"token": "...", "expires": "2025-06-18T08:00:00Z"}`.
The app keeps the token in the keychain and sends it as `Authorization: Bearer ...`.

* Tokens live for `SESSION_TTL` (14 days). The app renews on day 13 with `POST /api/session/renew`. A shorter life signs out
  every phone that was not opened for a day.
* The app reads the columns `token`, `expires` and `device` through `/api/session/list`, with these names.
* 401 means *sign in again*; 423 means *locked*, with `until` in the body. The app shows the time.

## Bookings

`GET /api/bookings?from=2025-06-04&days=7` lists boats, times and names. Times are local to the boathouse, with offset.
`POST /api/bookings` needs `boat`, `start`, `minutes`; 409 tells who has the boat.

## Limits

60 requests a minute and device. Lists are cut at 200 rows; the header `X-More: 1` says so.
"""

SCHEMA = "-- Schema as of release 2025.5. Made by scripts/dump_schema.py; do not edit by hand.\n\n" + "\n\n".join(
    f"CREATE TABLE {name} (\n" + ",\n".join(f"    {column}" for column in columns) + "\n);"
    for name, columns in {
        "members": (
            "id INTEGER PRIMARY KEY",
            "mail VARCHAR(200) NOT NULL UNIQUE",
            "name VARCHAR(120) NOT NULL",
            "boat_licence CHAR(1) NOT NULL DEFAULT '-'",
            "active BOOLEAN NOT NULL DEFAULT TRUE",
            "salt BYTEA NOT NULL",
            "password_hash BYTEA NOT NULL",
            "wrong_attempts INTEGER NOT NULL DEFAULT 0",
            "locked_until TIMESTAMPTZ",
            "last_login TIMESTAMPTZ",
        ),
        "sessions": (
            "token VARCHAR(64) PRIMARY KEY",
            "member_id INTEGER NOT NULL REFERENCES members (id)",
            "created TIMESTAMPTZ NOT NULL",
            "expires TIMESTAMPTZ NOT NULL",
            "device VARCHAR(80) NOT NULL",
        ),
        "reset_tokens": (
            "id INTEGER PRIMARY KEY",
            "member_id INTEGER NOT NULL REFERENCES members (id)",
            "digest VARCHAR(64) NOT NULL UNIQUE",
            "expires TIMESTAMPTZ NOT NULL",
        ),
        "boats": (
            "id INTEGER PRIMARY KEY",
            "name VARCHAR(60) NOT NULL UNIQUE",
            "seats INTEGER NOT NULL",
            "licence CHAR(1) NOT NULL DEFAULT 'B'",
            "blocked_from DATE",
            "blocked_until DATE",
            "note TEXT NOT NULL DEFAULT ''",
        ),
        "bookings": (
            "id INTEGER PRIMARY KEY",
            "boat_id INTEGER NOT NULL REFERENCES boats (id)",
            "member_id INTEGER NOT NULL REFERENCES members (id)",
            "start TIMESTAMPTZ NOT NULL",
            "minutes INTEGER NOT NULL CHECK (minutes BETWEEN 30 AND 240)",
            "crew INTEGER NOT NULL DEFAULT 1",
            "cancelled TIMESTAMPTZ",
            "UNIQUE (boat_id, start)",
        ),
        "damage_reports": (
            "id INTEGER PRIMARY KEY",
            "boat_id INTEGER NOT NULL REFERENCES boats (id)",
            "member_id INTEGER NOT NULL REFERENCES members (id)",
            "written TIMESTAMPTZ NOT NULL",
            "words TEXT NOT NULL",
            "photo VARCHAR(200)",
            "closed TIMESTAMPTZ",
        ),
        "waiting_list": (
            "id INTEGER PRIMARY KEY",
            "boat_id INTEGER NOT NULL REFERENCES boats (id)",
            "member_id INTEGER NOT NULL REFERENCES members (id)",
            "day DATE NOT NULL",
            "asked TIMESTAMPTZ NOT NULL",
            "told TIMESTAMPTZ",
        ),
        "keys": (
            "id INTEGER PRIMARY KEY",
            "number VARCHAR(12) NOT NULL UNIQUE",
            "member_id INTEGER REFERENCES members (id)",
            "handed_out DATE",
            "deposit_cents INTEGER NOT NULL DEFAULT 2000",
        ),
    }.items()
)

FILES = {
    "harbor/auth/views.py": VIEWS,
    "harbor/auth/service.py": SERVICE,
    "harbor/auth/sessions.py": SESSIONS,
    "harbor/auth/models.py": MODELS,
    "harbor/settings.py": SETTINGS,
    "harbor/templates/auth/login.html": LOGIN_HTML,
    "tests/auth/test_login.py": TEST_LOGIN,
    "docs/mobile-api.md": MOBILE,
    "migrations/schema.sql": SCHEMA,
}

_AREAS = {
    "auth/test_login.py": 8,
    "auth/test_reset.py": 7,
    "auth/test_sessions.py": 9,
    "api/test_session.py": 8,
    "api/test_bookings.py": 11,
    "api/test_limits.py": 5,
    "bookings/test_rules.py": 14,
    "bookings/test_waiting_list.py": 6,
    "bookings/test_calendar.py": 9,
    "boats/test_damage.py": 7,
    "pages/test_start.py": 4,
    "test_settings.py": 5,
    "test_mail.py": 6,
}
_DEEDS = (
    "is_kept", "is_refused", "is_told", "needs_a_licence", "ends_at_night", "is_listed", "is_counted", "survives_a_restart",
    "sends_one_mail", "is_cut_at_200_rows", "is_the_same_for_phones", "works_twice", "keeps_the_time_zone", "is_shown_once",
)  # fmt: skip


def suite_output(failed: dict[str, str], extra: dict[str, tuple[str, ...]] | None = None, seconds: str = "6.41") -> str:
    """Output of the project's whole test run; `failed` maps a test to its error."""
    names = [
        f"tests/{area}::test_{area.rpartition('test_')[2].removesuffix('.py')}_{_DEEDS[(i * 3 + len(area)) % len(_DEEDS)]}"
        for area, count in _AREAS.items()
        for i in range(count)
    ]
    names += [f"tests/{area}::{name}" for area, more in (extra or {}).items() for name in more]
    total = len(names)
    lines = [
        "============================= test session starts ==============================",
        f"collected {total} items",
        "",
    ]
    lines += [
        f"{name} {'FAILED' if name in failed else 'PASSED':<8}[{100 * (i + 1) // total:3d}%]"
        for i, name in enumerate(names)
    ]
    if failed:
        lines += ["", "=================================== FAILURES ==================================="]
        for name, error in failed.items():
            lines += [f"_______ {name.partition('::')[2]} _______", error]
    bad = len(failed)
    lines.append(f"==== {f'{bad} failed, ' if bad else ''}{total - bad} passed in {seconds}s ====")
    return "\n".join(lines)
