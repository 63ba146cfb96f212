"""The invented project of the third sample: a parcel tracker whose nightly report moves from cron to a queue."""

REPORT = '''"""The nightly report: which parcels are late, by depot."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from parcels.db import connection
from parcels.mail import send

LATE_AFTER = timedelta(days=3)


@dataclass(frozen=True)
class Late:
    """One parcel that should have arrived."""

    number: str
    depot: str
    last_seen: datetime
    promised: date


def late_parcels(today: date) -> list[Late]:
    """Parcels promised before today that are not delivered, oldest first."""
    query = """
        select p.number, s.depot, max(s.at), p.promised
        from parcels p join scans s on s.parcel = p.number
        where p.delivered is null and p.promised < %s
        group by p.number, s.depot, p.promised
        order by p.promised, p.number
    """
    with connection() as db:
        return [Late(*row) for row in db.execute(query, (today,))]


def by_depot(parcels: list[Late]) -> dict[str, list[Late]]:
    """Parcels by the depot that scanned them last."""
    groups: dict[str, list[Late]] = defaultdict(list)
    for parcel in parcels:
        groups[parcel.depot].append(parcel)
    return dict(sorted(groups.items()))


def as_csv(parcels: list[Late]) -> str:
    """A table for the depot's spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";")
    writer.writerow(["parcel", "last seen", "promised", "days late"])
    today = date.today()
    for parcel in parcels:
        writer.writerow([parcel.number, f"{parcel.last_seen:%d.%m. %H:%M}", parcel.promised, (today - parcel.promised).days])
    return out.getvalue()


def main() -> None:
    """Entry of the cron job, at 02:10 every night."""
    for depot, parcels in by_depot(late_parcels(date.today())).items():
        urgent = [parcel for parcel in parcels if date.today() - parcel.promised > LATE_AFTER]
        send(
            to=f"{depot.lower()}@depots.example.net",
            subject=f"{len(parcels)} late parcels, {len(urgent)} urgent",
            attachment=("late.csv", as_csv(parcels)),
        )


if __name__ == "__main__":
    main()
'''

QUEUE = '''"""A small queue in the database: jobs are rows, workers take them with `for update skip locked`."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from parcels.db import connection

log = logging.getLogger(__name__)

HANDLERS: dict[str, Callable[..., None]] = {}
RETRIES = 5


def handler(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function under a job's name."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        HANDLERS[name] = function
        return function

    return register


def put(name: str, *, run_at: datetime | None = None, unique: str | None = None, **arguments: Any) -> None:
    """Add a job. With `unique`, nothing happens if a waiting job has the same key."""
    with connection() as db:
        db.execute(
            "insert into jobs (name, arguments, run_at, unique_key) values (%s, %s, %s, %s) on conflict do nothing",
            (name, json.dumps(arguments), run_at or datetime.now(UTC), unique),
        )


def work_once() -> bool:
    """Take one job that is due and run it; False if there is none."""
    with connection() as db:
        row = db.execute(
            "select id, name, arguments, tries from jobs where run_at <= now() and done is null "
            "order by run_at limit 1 for update skip locked"
        ).fetchone()
        if row is None:
            return False
        job, name, arguments, tries = row
        try:
            HANDLERS[name](**json.loads(arguments))
        except Exception:
            log.exception("job %s %s failed, try %s", job, name, tries + 1)
            if tries + 1 >= RETRIES:
                db.execute("update jobs set done = now(), failed = true where id = %s", (job,))
            else:
                again = datetime.now(UTC) + timedelta(minutes=2**tries)
                db.execute("update jobs set tries = tries + 1, run_at = %s where id = %s", (again, job))
        else:
            db.execute("update jobs set done = now() where id = %s", (job,))
    return True


def work_forever(pause: float = 1.0) -> None:
    """The worker's loop."""
    while True:
        if not work_once():
            time.sleep(pause)
'''

MAIL = '''"""Mail with one attachment, through the house's relay."""

from __future__ import annotations

import smtplib
from email.message import EmailMessage

RELAY = ("mail.internal", 25)


def send(*, to: str, subject: str, attachment: tuple[str, str]) -> None:
    """Send at once; raises smtplib.SMTPException when the relay refuses."""
    message = EmailMessage()
    message["From"] = "parcels@example.net"
    message["To"] = to
    message["Subject"] = subject
    message.set_content("See the attached table.")
    name, content = attachment
    message.add_attachment(content.encode("utf-8"), maintype="text", subtype="csv", filename=name)
    with smtplib.SMTP(*RELAY, timeout=20) as relay:
        relay.send_message(message)
'''

DEPLOY = """# Deployment

One host, systemd. The crontab of the user `parcels`:

    10 2 * * *  cd /srv/parcels && .venv/bin/python -m parcels.report
    */5 * * * * cd /srv/parcels && .venv/bin/python -m parcels.poll_carriers
    0 4 * * 0   cd /srv/parcels && .venv/bin/python -m parcels.vacuum

The worker is `parcels-worker.service`; it runs `python -m parcels.worker` and is restarted on failure.
If a report fails at night nobody learns of it before the depots call at seven.
"""

WORKER = '''"""The worker process: handlers are registered by importing their modules."""

from __future__ import annotations

import logging

from parcels import queue
from parcels import carriers  # noqa: F401 - registers its handlers


def main() -> None:
    """Run until stopped."""
    logging.basicConfig(level=logging.INFO)
    queue.work_forever()


if __name__ == "__main__":
    main()
'''

FILES = {
    "parcels/report.py": REPORT,
    "parcels/queue.py": QUEUE,
    "parcels/mail.py": MAIL,
    "parcels/worker.py": WORKER,
    "docs/deploy.md": DEPLOY,
}
