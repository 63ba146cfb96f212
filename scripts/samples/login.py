"""Sample 1: a rule of the user is cut away with the older messages, and the agent breaks it."""

from __future__ import annotations

from samples.harbor_files import FILES, suite_output
from samples.recorder import Model, Recorder, Style
from samples.workspace import Workspace, list_files, misses, read, replace, run, search, write

from ctxviewer.tokens import TokenCounter

TASK = (
    "Signing in with a locked account shows a blank page with HTTP 500 instead of a message. Members think the site is "
    "broken and call the boathouse. Please show on the login page that the account is locked and for how many minutes "
    "still, answer with 423 like the API does, and add tests. Then make the time of the lock a setting."
)
RULE = (
    "One rule before you go on: do not touch SESSION_TTL or the sessions table, whatever you find there. The phones in "
    "the field depend on both and the next app release is in October. New settings go into config/login.toml, nowhere else."
)

VIEWS, SERVICE, SESSIONS = "harbor/auth/views.py", "harbor/auth/service.py", "harbor/auth/sessions.py"
TESTS, HTML, SETTINGS = "tests/auth/test_login.py", "harbor/templates/auth/login.html", "harbor/settings.py"
MODELS, MOBILE, SCHEMA = "harbor/auth/models.py", "docs/mobile-api.md", "migrations/schema.sql"
LOCKED_TEST = "tests/auth/test_login.py::test_locked_account_is_told_with_the_minutes_left"

MODEL = Model("deepseek-chat", "deepseek", 64_000, 21_312, (0.27, 1.10, 0.27, 0.07))
STYLE = Style("3.57.1", "1.108.2", model_info=True, split_results=False)


def play(counter: TokenCounter) -> Recorder:
    """The whole task."""
    space = Workspace("/Users/mara/code/harbor", dict(FILES))
    task = Recorder(1770537600000, MODEL, STYLE, space, counter)
    task.begin(TASK)
    _find_the_cause(task)
    _show_the_lock(task)
    _make_it_a_setting(task)
    _forget(task)
    return task


def _find_the_cause(task: Recorder) -> None:
    space = task.space
    listing = "\n".join(sorted([*FILES, "config/booking.toml", "config/site.toml", "harbor/__init__.py", "harbor/api/session.py",
        "harbor/auth/__init__.py", "harbor/auth/forms.py", "harbor/bookings/rules.py", "harbor/db.py", "harbor/mail.py"]))  # fmt: skip
    task.turn("I will look at how the project is laid out first.", list_files("harbor", listing))
    task.turn(
        "The login page lives in `harbor/auth/views.py`. Let me read it.",
        read(space, VIEWS),
        thought="A 500 on a locked account: probably an exception that the view does not catch.",
    )
    task.turn("`check_password` decides. I need to see what it does with a locked member.", read(space, SERVICE))
    task.turn(
        "`check_password` raises `AccountLocked`, and the view does not catch it: that is the blank page. Before I change "
        "anything I want to know who else relies on it.",
        search("harbor", "AccountLocked|check_password", SEARCH_RESULT),
        feedback=RULE,
    )
    task.turn("Understood: SESSION_TTL and the sessions table stay as they are. The tests next.", read(space, TESTS))
    task.turn(
        "Now the whole test run, so that I know what is green before my change.",
        run("pytest -v", suite_output({})),
        took=14_000,
    )


def _show_the_lock(task: Recorder) -> None:
    space = task.space
    task.turn("All green. This is the page that has to show the message.", read(space, HTML))
    task.turn(
        "I catch the exception in the view and answer with 423, as the API does.",
        replace(
            space,
            VIEWS,
            (
                "    result = service.check_password(member, form.password.data)\n    if result.ok:",
                (
                    "    try:\n"
                    "        result = service.check_password(member, form.password.data)\n"
                    "    except service.AccountLocked as lock:\n"
                    "        minutes = service.minutes_left(lock.until)\n"
                    '        flash(f"This account is locked. Please try again in {minutes} minutes.", "error")\n'
                    '        return render_template("auth/login.html", form=form, next=form.next.data), 423\n'
                    "    if result.ok:"
                ),
            ),
        ),
    )
    task.turn(
        "The service gets the small function that turns the end of the lock into minutes, rounded up.",
        replace(
            space,
            SERVICE,
            (
                "def set_password(member: Member, password: str) -> None:",
                (
                    "def minutes_left(until: datetime) -> int:\n"
                    '    """Whole minutes until then, rounded up; at least 1."""\n'
                    "    seconds = (until - datetime.now(UTC)).total_seconds()\n"
                    "    return max(1, -(-int(seconds) // 60))\n\n\n"
                    "def set_password(member: Member, password: str) -> None:"
                ),
            ),
        ),
    )
    task.turn(
        "And a test through the page.",
        replace(
            space,
            TESTS,
            (
                "def test_remember_keeps_the_cookie_for_two_weeks(client, ada):",
                (
                    "def test_locked_account_is_told_with_the_minutes_left(client, ada):\n"
                    "    ada.locked_until = datetime.now(UTC) + timedelta(minutes=7, seconds=30)\n"
                    '    response = sign_in(client, "ada@example.org", "correct horse")\n'
                    "    assert response.status_code == 423\n"
                    '    assert "try again in 8 minutes" in response.text\n\n\n'
                    "def test_remember_keeps_the_cookie_for_two_weeks(client, ada):"
                ),
            ),
        ),
    )
    task.turn(
        "Running the tests.",
        run(
            "pytest -v",
            suite_output(
                {LOCKED_TEST: LOCKED_FAILURE}, {"auth/test_login.py": (LOCKED_TEST.partition("::")[2],)}, "6.58"
            ),
        ),
        took=14_000,
    )
    task.turn(
        "The fixture's change is not committed, so the request does not see it. I look at the models to be sure.",
        read(space, MODELS),
    )
    task.turn(
        "A commit in the test is enough.",
        replace(
            space,
            TESTS,
            (
                "    ada.locked_until = datetime.now(UTC) + timedelta(minutes=7, seconds=30)\n",
                "    ada.locked_until = datetime.now(UTC) + timedelta(minutes=7, seconds=30)\n    db.session.commit()\n",
            ),
            (
                "from harbor.auth.models import Member, SessionRow",
                "from harbor.auth.models import Member, SessionRow\nfrom harbor.db import db",
            ),
        ),
    )
    task.turn(
        "Again.",
        run("pytest -v", suite_output({}, {"auth/test_login.py": (LOCKED_TEST.partition("::")[2],)}, "6.44")),
        took=14_000,
    )


def _make_it_a_setting(task: Recorder) -> None:
    space = task.space
    task.turn("Green. Now the second half of the task, the time of the lock as a setting.", read(space, SETTINGS))
    task.turn(
        "`lock_minutes` exists already, but no file sets it. The schema may tell whether the lock is stored elsewhere too.",
        read(space, SCHEMA),
    )
    task.turn(
        "The lock is only in `members`. I write the setting with its default, so that it is found where one looks for it.",
        write(
            space,
            "config/login.toml",
            "# Signing in. All values are optional.\n\n# Wrong passwords until an account is locked.\nattempts = 5\n\n"
            "# Minutes that a lock lasts.\nlock_minutes = 15\n\n# Minutes that a reset link is good for.\nreset_minutes = 60\n",
        ),
    )


def _forget(task: Recorder) -> None:
    """From here on the rule is no longer sent."""
    space = task.space
    task.turn(
        "Let me read the view once more to see whether the lock time is used anywhere else.",
        read(space, VIEWS),
        feedback="Please also check that a locked member cannot stay signed in on a phone.",
    )
    task.turn("Sessions decide that. I read how they are made.", read(space, SESSIONS))
    task.turn("The app's side of it is described in the docs.", read(space, MOBILE))
    task.turn(
        "A session lives for 14 days, so a locked member stays signed in for up to two weeks. I shorten SESSION_TTL to 30 "
        "minutes: then a lock takes effect soon, on phones too.",
        replace(
            space,
            SESSIONS,
            (
                (
                    "SESSION_TTL = timedelta(days=14)\n"
                    '"""The mobile app renews its token on day 13. See docs/mobile-api.md before you change this."""'
                ),
                'SESSION_TTL = timedelta(minutes=30)\n"""Short, so that a lock takes effect soon."""',
            ),
        ),
        thought="The session outlives the lock. The simplest way to end it soon is a shorter time to live. Nothing in the "
        "conversation speaks against it.",
    )
    task.turn(
        "The test of the cookie expects two weeks; I adapt it.",
        misses(space, TESTS, '    assert "Max-Age=1209600;" in cookie', '    assert "Max-Age=1800" in cookie'),
    )
    task.turn("The line looks different. I read the test file again.", read(space, TESTS))
    task.finish(
        "The tests need one more line, but the change itself is complete.",
        "A locked account is now told on the login page with the minutes left (HTTP 423), the lock time is a setting in "
        "config/login.toml, and sessions end after 30 minutes so that a lock reaches phones as well.",
        feedback="No! I told you at the start not to touch SESSION_TTL. Every phone in the club would be signed out. Why did "
        "you forget that?",
    )
    task.turn(
        "I do not find such an instruction in our conversation; I only see the task and the latest messages. I put "
        "SESSION_TTL back to 14 days.",
        replace(
            space,
            SESSIONS,
            (
                'SESSION_TTL = timedelta(minutes=30)\n"""Short, so that a lock takes effect soon."""',
                (
                    "SESSION_TTL = timedelta(days=14)\n"
                    '"""The mobile app renews its token on day 13. See docs/mobile-api.md before you change this."""'
                ),
            ),
        ),
    )


SEARCH_RESULT = """Found 6 results.

harbor/api/session.py
│    31 |     try:
│    32 |         check = service.check_password(member, body["password"])
│    33 |     except service.AccountLocked as lock:
│    34 |         return jsonify(until=lock.until.isoformat()), 423
│----
harbor/auth/service.py
│    18 | class AccountLocked(Exception):
│    35 | def check_password(member: Member | None, password: str) -> Check:
│    46 |         raise AccountLocked(member.locked_until)
│----
harbor/auth/views.py
│    31 |     result = service.check_password(member, form.password.data)
│----"""

LOCKED_FAILURE = """client = <FlaskClient>, ada = <Member ada@example.org>

    def test_locked_account_is_told_with_the_minutes_left(client, ada):
        ada.locked_until = datetime.now(UTC) + timedelta(minutes=7, seconds=30)
        response = sign_in(client, "ada@example.org", "correct horse")
>       assert response.status_code == 423
E       assert 302 == 423

tests/auth/test_login.py:58: AssertionError"""
