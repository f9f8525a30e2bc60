"""The time interval of evidence and reviews: whole minutes in UTC, without its end."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

NOW = "now"

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class PeriodError(ValueError):
    """The period is invalid; the message is shown to the user."""


@dataclass(frozen=True)
class Period:
    """The interval [first, end), both in UTC."""

    first: datetime
    end: datetime

    @classmethod
    def parse(cls, first: str, end: str, now: datetime) -> "Period":
        """Parses the values of --from and --to. A date means its start for --from and its end for --to.

        Raises PeriodError if they cannot be parsed, contain seconds, are in the wrong order or in the future.
        """
        begin, finish = _moment("--from", first, now, 0), _moment("--to", end, now, 1)
        if begin >= now:
            raise PeriodError(f"--from {first} is in the future: it is {_text(now)} now")
        if begin >= finish:
            raise PeriodError(f"--from {_text(begin)} is not before --to {_text(finish)}")
        if finish > now:
            raise PeriodError(
                f"--to {_text(finish)} is not over yet: it is {_text(now)}; `--to now` is possible"
            )
        return cls(begin, finish)

    def parameters(self) -> dict[str, str]:
        """Returns the query parameters `from` and `to`."""
        return {"from": f"{self.first:%Y-%m-%d %H:%M:%S}", "to": f"{self.end:%Y-%m-%d %H:%M:%S}"}

    @property
    def days(self) -> float:
        return (self.end - self.first) / timedelta(days=1)

    def __str__(self) -> str:
        return f"{_text(self.first)} to {_text(self.end)}"


def _moment(option: str, text: str, now: datetime, days: int) -> datetime:
    if text == NOW:
        return now.replace(second=0, microsecond=0)
    try:
        if _DAY.fullmatch(text):
            text = f"{date.fromisoformat(text) + timedelta(days=days)}"
        moment = datetime.fromisoformat(text)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise PeriodError(
            f"{option}: expected a date such as 2026-10-01, a time such as 2026-10-01T08:30 (UTC) or now, "
            f"found {text!r}"
        ) from None
    if moment.second or moment.microsecond:
        raise PeriodError(f"{option} {text}: coverage is known by the minute; leave the seconds out")
    if not 2000 <= moment.year < 2100:
        raise PeriodError(f"{option} {text}: no log is of that year")
    return moment


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
