/**
 * Contains the classes of the detect job whose names are part of checkpoints: records that Flink's PojoSerializer
 * writes, and serializers, whose snapshots Flink loads by class name. A renamed or moved class cannot be restored, so
 * no other class belongs here.
 */
package io.tailrace.detect;
