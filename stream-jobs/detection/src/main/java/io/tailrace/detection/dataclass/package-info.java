/**
 * Determines which data classes an event touches, and the source of that information: docs/DATA-CLASSES.md. {@link
 * io.tailrace.detection.dataclass.DataClassReader} compiles the file, {@link
 * io.tailrace.detection.dataclass.DataClassifier} enriches events, and {@link
 * io.tailrace.detection.dataclass.DataAccessFactory} creates the records to store.
 */
package io.tailrace.detection.dataclass;
