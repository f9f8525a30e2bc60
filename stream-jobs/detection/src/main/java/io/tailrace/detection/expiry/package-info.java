/**
 * Finds state that has expired: {@link io.tailrace.detection.expiry.ExpiryQueue} for engines that keep the state of all
 * groups and entities in memory. The detect job uses timers of Flink instead.
 */
package io.tailrace.detection.expiry;
