"""An imbalance raises an alert; `tailrace rewind` to a savepoint resolves it."""

from e2e.health import await_alert, await_cleared
from e2e.wait_for_idle import assert_exact, tailrace


def test_deleted_rows_are_read_again(stack, watched):
    workload = watched(seed=1)
    workload.write(300)
    workload.finish()
    assert_exact(stack, workload.manifests)
    savepoint = int(tailrace(stack, "savepoint").split("savepoint ")[1].split(" in ")[0])
    workload.write(300)
    workload.finish()
    assert_exact(stack, workload.manifests)

    stack.clickhouse().execute(
        "ALTER TABLE tailrace.ledger DELETE WHERE instance LIKE {instance:String} AND kind = 'EVENT'"
        " AND after_checkpoint >= {savepoint:UInt64}",
        {"instance": f"{workload.manifests[0].instance}%", "savepoint": savepoint},
        mutations_sync=2,
    )
    await_alert(stack, "TailraceImbalance")
    tailrace(stack, "rewind", str(savepoint))
    assert_exact(stack, workload.manifests)
    await_cleared(stack, "TailraceImbalance")
