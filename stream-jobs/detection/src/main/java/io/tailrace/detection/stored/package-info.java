/**
 * Events as ClickHouse stores them: decodes rows into the events that rules see, and determines which rules need a field
 * that is not stored.
 */
package io.tailrace.detection.stored;
