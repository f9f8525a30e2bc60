/**
 * Contains the class of the ClickHouse committer whose name is part of checkpoints: Flink's PojoSerializer writes its
 * name and those of its fields. A renamed or moved class cannot be restored, so no other class belongs here.
 */
package io.tailrace.clickhouse;
