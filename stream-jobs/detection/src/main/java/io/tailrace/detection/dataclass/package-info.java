/**
 * Which classes of data an event touches, and how that is known: docs/DATA-CLASSES.md. {@link
 * io.tailrace.detection.dataclass.DataClassReader} compiles the file, {@link
 * io.tailrace.detection.dataclass.DataClassifier} enriches events, {@link
 * io.tailrace.detection.dataclass.DataAccessFactory} makes of them what is stored.
 */
package io.tailrace.detection.dataclass;
