"""Sample 3: the user asks for a shorter conversation, and goes on from the model's summary."""

from __future__ import annotations

from samples.parcel_files import FILES
from samples.recorder import Model, Recorder, Style
from samples.workspace import Workspace, list_files, read, replace, run, search, write

from ctxviewer.tokens import TokenCounter

TASK = (
    "The nightly report of late parcels runs from cron and fails silently when the mail relay is down. Move it to our "
    "job queue: one job per depot, so that a failure of one is retried alone, and a job that plans the next night. Keep the "
    "CSV as it is, depots parse it."
)
REPORT, QUEUE, WORKER, MAIL, DEPLOY = (
    "parcels/report.py",
    "parcels/queue.py",
    "parcels/worker.py",
    "parcels/mail.py",
    "docs/deploy.md",
)
MODEL = Model("claude-sonnet-4-5-20250929", "anthropic", 200_000, 18_240, (3, 15, 3.75, 0.3), native=True)
STYLE = Style("3.51.0", "1.108.1", model_info=True, split_results=False)

SUMMARY = """1. Task: move the nightly report of late parcels from cron to the job queue (parcels/queue.py). One job per depot, retried
alone; a job that plans the next night. The CSV must stay as it is.

2. Decisions:
- Job names: `report.plan` (puts one `report.depot` per depot, then the next `report.plan`) and `report.depot`.
- Unique keys `report:<depot>:<day>` and `report.plan:<day>`, so that a second run on the same day does nothing.
- `as_csv` takes `today` as an argument instead of asking the clock twice; the table is unchanged.

3. Done: parcels/report.py has the two handlers, parcels/worker.py imports it, tests/test_report.py has four tests, all pass.

4. Left: docs/deploy.md still shows the crontab line of the report; the first `report.plan` has to be put once at
deployment; the user wants to know how a failed night is noticed."""

NEW_MAIN = '''@handler("report.plan")
def plan(day: str) -> None:
    """Put one job per depot for this day, and the plan of the next."""
    today = date.fromisoformat(day)
    for depot in by_depot(late_parcels(today)):
        put("report.depot", unique=f"report:{depot}:{day}", depot=depot, day=day)
    put_plan(today + timedelta(days=1))


def put_plan(day: date) -> None:
    """Plan a night; nothing happens if it is planned already."""
    at = datetime.combine(day, time(2, 10), tzinfo=LOCAL)
    put("report.plan", run_at=at, unique=f"report.plan:{day}", day=day.isoformat())


@handler("report.depot")
def report_depot(depot: str, day: str) -> None:
    """Send one depot its table. Raises when the relay refuses, so that the queue tries again."""
    today = date.fromisoformat(day)
    parcels = by_depot(late_parcels(today)).get(depot, [])
    urgent = [parcel for parcel in parcels if today - parcel.promised > LATE_AFTER]
    send(
        to=f"{depot.lower()}@depots.example.net",
        subject=f"{len(parcels)} late parcels, {len(urgent)} urgent",
        attachment=("late.csv", as_csv(parcels, today)),
    )'''

OLD_MAIN = '''def main() -> None:
    """Entry of the cron job, at 02:10 every night."""
    for depot, parcels in by_depot(late_parcels(date.today())).items():
        urgent = [parcel for parcel in parcels if date.today() - parcel.promised > LATE_AFTER]
        send(
            to=f"{depot.lower()}@depots.example.net",
            subject=f"{len(parcels)} late parcels, {len(urgent)} urgent",
            attachment=("late.csv", as_csv(parcels)),
        )


if __name__ == "__main__":
    main()'''

TESTS = '''"""The report through the queue: one job per depot, retried alone, planned for the next night."""

from datetime import date

import pytest

from parcels import queue, report


@pytest.fixture
def two_depots(monkeypatch):
    late = [report.Late("A1", "North", NOW, date(2026, 1, 20)), report.Late("B2", "South", NOW, date(2026, 1, 21))]
    monkeypatch.setattr(report, "late_parcels", lambda today: late)


def test_plan_puts_one_job_per_depot_and_the_next_night(two_depots, jobs):
    report.plan("2026-01-24")
    assert jobs.names() == ["report.depot", "report.depot", "report.plan"]


def test_planning_twice_puts_nothing_more(two_depots, jobs):
    report.plan("2026-01-24")
    report.plan("2026-01-24")
    assert len(jobs.names()) == 3


def test_one_refused_mail_does_not_stop_the_other(two_depots, jobs, relay):
    relay.refuse("north@depots.example.net")
    report.plan("2026-01-24")
    while queue.work_once():
        pass
    assert relay.sent == ["south@depots.example.net"]
    assert jobs.tries("report.depot", depot="North") == 1


def test_the_table_is_as_before(two_depots):
    table = report.as_csv(report.late_parcels(date(2026, 1, 24)), date(2026, 1, 24))
    assert table.splitlines()[0] == "parcel;last seen;promised;days late"
'''

USES = """Found 3 results.

parcels/report.py
│    69 | def main() -> None:
│----
docs/deploy.md
│     5 |     10 2 * * *  cd /srv/parcels && .venv/bin/python -m parcels.report
│----
tests/test_mail.py
│    12 | from parcels.report import as_csv
│----"""


def play(counter: TokenCounter) -> Recorder:
    """The whole task."""
    space = Workspace("/Users/mara/code/parcels", dict(FILES))
    task = Recorder(1769241600000, MODEL, STYLE, space, counter)
    task.begin(TASK)
    _build(task)
    task.condense(
        "keep the names of the jobs and the keys",
        "Here is what is needed to go on.",
        SUMMARY,
    )
    _go_on(task)
    return task


def _build(task: Recorder) -> None:
    space = task.space
    listing = "\n".join(sorted([*FILES, "parcels/carriers.py", "parcels/db.py", "parcels/poll_carriers.py", "parcels/vacuum.py",
        "tests/conftest.py", "tests/test_mail.py", "tests/test_queue.py"]))  # fmt: skip
    task.turn(
        "I look around first.",
        list_files(".", listing),
        thought="The queue exists. I should learn how handlers are registered before I design jobs.",
    )
    task.turn("The report itself.", read(space, REPORT))
    task.turn("And the queue it shall use.", read(space, QUEUE))
    task.turn(
        "Handlers are registered on import, so the worker must import the report.",
        read(space, WORKER),
        thought="unique keys are supported: put(..., unique=...). Good for planning the next night idempotently.",
    )
    task.turn("Who else uses the report?", search(".", "parcels.report|as_csv", USES))
    task.turn("How mail fails decides what is retried.", read(space, MAIL))
    task.turn(
        "`send` raises when the relay refuses, which is what the queue needs. I write the two handlers.",
        replace(
            space,
            REPORT,
            (OLD_MAIN, NEW_MAIN),
            ("from datetime import date, datetime, timedelta", "from datetime import date, datetime, time, timedelta"),
            (
                "from parcels.mail import send",
                "from parcels.clock import LOCAL\nfrom parcels.mail import send\nfrom parcels.queue import handler, put",
            ),
            ("def as_csv(parcels: list[Late]) -> str:", "def as_csv(parcels: list[Late], today: date) -> str:"),
            (
                "    today = date.today()\n    for parcel in parcels:\n        writer",
                "    for parcel in parcels:\n        writer",
            ),
        ),
        thought="as_csv asks the clock itself; if a retry happens after midnight the days would change. Pass today in.",
        feedback="Good. But please no new dependency for time zones.",
    )
    task.turn(
        "`parcels.clock` does not exist and would need one. The standard library's zoneinfo is enough.",
        replace(
            space,
            REPORT,
            ("from parcels.clock import LOCAL\n", ""),
            ("LATE_AFTER = timedelta(days=3)", 'LATE_AFTER = timedelta(days=3)\nLOCAL = ZoneInfo("Europe/Lisbon")'),
            (
                "from datetime import date, datetime, time, timedelta",
                "from datetime import date, datetime, time, timedelta\nfrom zoneinfo import ZoneInfo",
            ),
        ),
    )
    task.turn(
        "The worker imports the report.",
        replace(
            space,
            WORKER,
            ("from parcels import carriers  # noqa: F401 - registers its handlers",
             "from parcels import carriers, report  # noqa: F401 - register their handlers"),
        ),
    )  # fmt: skip
    task.turn("Now tests.", write(space, "tests/test_report.py", TESTS))
    task.turn(
        "Running them.",
        run("pytest -q tests/test_report.py tests/test_mail.py", "F.......                                  [100%]\n"
            "E   NameError: name 'NOW' is not defined\n1 failed, 7 passed in 1.84s"),
        took=11_000,
    )  # fmt: skip
    task.turn(
        "A constant is missing in the test.",
        replace(
            space,
            "tests/test_report.py",
            ("from datetime import date\n", "from datetime import UTC, date, datetime\n"),
            (
                "from parcels import queue, report\n",
                "from parcels import queue, report\n\nNOW = datetime(2026, 1, 23, 18, 5, tzinfo=UTC)\n",
            ),
        ),
    )
    task.turn(
        "Again.",
        run("pytest -q", "..............................                            [100%]\n30 passed in 4.02s"),
        took=11_000,
    )


def _go_on(task: Recorder) -> None:
    space = task.space
    task.turn("What is left are the docs. I read them.", read(space, DEPLOY))
    task.turn(
        "The crontab loses the report's line, and the first plan gets a command.",
        replace(
            space,
            DEPLOY,
            ("    10 2 * * *  cd /srv/parcels && .venv/bin/python -m parcels.report\n", ""),
            (
                "If a report fails at night nobody learns of it before the depots call at seven.\n",
                (
                    "The nightly report is a job. Put the first plan once, at deployment:\n\n"
                    '    .venv/bin/python -c "import datetime, parcels.report as r; r.put_plan(datetime.date.today())"\n\n'
                    "A depot's mail is tried five times, with growing pauses. After that the job is marked as failed:\n\n"
                    "    select name, arguments, tries from jobs where failed;\n"
                ),
            ),
        ),
    )
    task.finish(
        "That answers the last question, too.",
        "The nightly report runs as jobs: `report.plan` every night at 02:10, one `report.depot` per depot, retried alone. A "
        "failed night shows in the table `jobs`; docs/deploy.md says how to look. The CSV is unchanged.",
    )
