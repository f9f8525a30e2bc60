"""Feeds the logs of the demo where a step writes them before the collectors start, as in containers."""

import time
from collections.abc import Iterator
from dataclasses import replace

from tailrace.config.home import Home
from tailrace.config.settings import Settings
from tailrace.demo import feed
from tailrace.demo.shop import files, story
from tailrace.demo.shop.links import links
from tailrace.demo.shop.story import Story
from tailrace.kafka.client import KafkaClient
from tailrace.plural import counted


def feed_shop(kafka: KafkaClient, settings: Settings, home: Home) -> Iterator[str]:
    """Writes and lists the logs of the shop, and yields what to see. Raises OSError, SourcesError."""
    return feed_story(kafka, settings, home, story.write(time.time()))


def feed_story(kafka: KafkaClient, settings: Settings, home: Home, whole: Story) -> Iterator[str]:
    """Writes and lists the logs of a story, without its gap. Raises OSError, SourcesError.

    It lists the logs when everything else is done: a step that failed is repeated from the beginning.
    """
    written = _complete(whole)
    files.write_logs(home, written)
    files.write_censuses(home, written)
    files.write_snapshots(home, written)
    _send(kafka, written.spans)
    files.save_manifest(home, written.manifest)
    files.watch(settings, home, written)
    yield f"two days of a shop, up to {written.manifest['to']} UTC. Paths of the dashboards' address:"
    for link in links(written.manifest):
        yield f"{link.title}: {link.text}\n    {link.url}"


def feed_samples(kafka: KafkaClient, settings: Settings, home: Home) -> Iterator[str]:
    """Writes and lists the logs of samples/. Raises OSError, SourcesError."""
    fed = feed.feed(home)
    _send(kafka, fed.spans)
    feed.watch(settings, home)
    yield f"{fed.written:,} bytes of real logs, with their times moved into the last hour"


def _complete(written: Story) -> Story:
    """Returns the story without its gap: it needs a collector that runs, and `tailrace backfill`."""
    stories = {name: its for name, its in written.manifest["stories"].items() if name != files.GAP}
    alerts = [alert for alert in written.manifest["alerts"] if alert["story"] != files.GAP]
    return replace(written, manifest={**written.manifest, "stories": stories, "alerts": alerts})


def _send(kafka: KafkaClient, spans: tuple[bytes, ...] | list[bytes]) -> None:
    if left := feed.send(kafka, spans):
        raise OSError(f"Kafka at {kafka.address} did not confirm {counted(left, 'message')} with spans")
