/**
 * The class of the ClickHouse committer whose name is in checkpoints: Flink's PojoSerializer writes the name and those of
 * its fields. A renamed or moved class cannot be restored, so no other class belongs here.
 */
package io.tailrace.clickhouse;
