"""The demo's logs: what is watched, and what is written when it is fed once and again."""

import os
import time

import pytest

from tailrace import demo, replay, sources
from tailrace.home import Home
from tailrace.settings import Settings

HOUR = 3600


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(home=tmp_path, cache=tmp_path, sources=tmp_path / "sources.yaml")


@pytest.fixture
def home(settings) -> Home:
    return Home(settings.home)


def lines_of(home: Home, sample: demo.Sample) -> list[bytes]:
    return sample.watched(home).path.read_bytes().splitlines(keepends=True)


def test_watches_every_sample_once(settings, home):
    assert demo.watch(settings, home)
    assert not demo.watch(settings, home)
    assert [source.path.parent.name for source in sources.load(settings.sources)] == [
        sample.instance for sample in demo.FILES
    ]


def test_keeps_the_logs_that_the_user_watches(settings, home):
    settings.sources.write_text("- {instance: mine, source: audit, path: /var/log/audit.log}\n")
    demo.watch(settings, home)

    assert len(sources.load(settings.sources)) == 1 + len(demo.FILES)


@pytest.mark.parametrize("sample", demo.FILES, ids=lambda sample: sample.file)
def test_the_last_entry_is_of_now_and_the_first_of_an_hour_ago(home, sample):
    now = time.time()
    demo.feed(home)
    first, last = replay.time_range(lines_of(home, sample))

    assert last == pytest.approx(now, abs=5)
    assert first == pytest.approx(now - HOUR, abs=5)


@pytest.mark.parametrize("sample", demo.FILES, ids=lambda sample: sample.file)
def test_fed_again_a_log_goes_on_and_does_not_go_back_in_time(home, sample):
    demo.feed(home)
    log = sample.watched(home).path
    once = len(lines_of(home, sample))
    ten_minutes_ago = time.time() - 600
    os.utime(log, (ten_minutes_ago, ten_minutes_ago))
    demo.feed(home)
    again = lines_of(home, sample)[once:]

    assert len(again) == once
    assert replay.time_range(again)[0] == pytest.approx(ten_minutes_ago, abs=5)
