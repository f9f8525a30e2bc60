package io.tailrace.detection.dataclass;

import io.tailrace.fingerprint.Fingerprinter;
import java.util.Locale;

/** Converts column names to their form in fingerprints. */
final class FingerprintColumnNames {

    private FingerprintColumnNames() {}

    /** Returns {@code card_?} for {@code Card_2}. A question mark of a pattern matches both. */
    static String inFingerprints(String column) {
        return Fingerprinter.nameInClass(column.toLowerCase(Locale.ROOT));
    }
}
