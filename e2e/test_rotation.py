"""Renamed files with byte-identical banners, and what is lost of them."""

from e2e.settling import assert_books_show_missing_bytes, assert_exact, await_exact, backfill, settle
from e2e.stack import wait_until
from e2e.workload.statements import ordinary


def test_rename_while_everything_runs(stack, watched):
    workload = watched(seed=1)
    with workload.writing(rate=200):
        for _ in range(3):
            before = workload.entries
            wait_until(
                lambda before=before: workload.entries >= before + 300,
                60,
                "entries between renames",
            )
            workload.rotate(late=20)
    assert_exact(stack, workload.manifests)


def test_short_files_that_begin_alike(stack, watched):
    workload = watched(seed=2)
    for _ in range(3):
        for log in workload.logs:
            log.write(ordinary(workload.random))
        assert not settle(stack, workload.manifests)
        workload.rotate()
    workload.write(50)
    workload.finish()
    assert_exact(stack, workload.manifests)


def test_rename_while_fluent_bit_is_down(stack, watched):
    workload = watched(seed=3)
    workload.write(500)
    workload.finish()
    assert not settle(stack, workload.manifests)
    with stack.without("fluentbit"):
        workload.write(500)
        workload.rotate(late=10)
        workload.write(200)
        workload.finish()
    missing = settle(stack, workload.manifests)
    assert missing.keys() == {"tail_lost"}
    assert_books_show_missing_bytes(stack, workload.manifests)
    backfill(stack, workload.manifests)
    await_exact(stack, workload.manifests)
