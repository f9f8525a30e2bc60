package io.tailrace.detection.dataclass;

import io.tailrace.fingerprint.Fingerprinter;
import java.util.Locale;

/** Names of columns as fingerprints have them. */
final class FingerprintColumnNames {

    private FingerprintColumnNames() {}

    /** {@code card_?} for {@code Card_2}; a question mark of a pattern matches both. */
    static String inFingerprints(String column) {
        return Fingerprinter.nameInClass(column.toLowerCase(Locale.ROOT));
    }
}
