package io.tailrace.detection.sigma.reader;

import java.util.Set;

/** The files of a rule bundle that contain no Sigma rules. All are at the top of the directory. */
public final class BundleFiles {

    /** The file with the detectors. */
    public static final String DETECTORS = "detectors.yaml";

    /** The file with the data classes. */
    public static final String DATA_CLASSES = "data-classes.yaml";

    /** The file with the placeholders. */
    public static final String PLACEHOLDERS = "placeholders.yaml";

    private static final Set<String> ALL = Set.of(DETECTORS, DATA_CLASSES, PLACEHOLDERS);

    private BundleFiles() {}

    /**
     * Returns whether a file of a bundle contains something other than Sigma rules.
     *
     * @param relativePath relative to the directory of the bundle
     */
    public static boolean isOther(String relativePath) {
        return ALL.contains(relativePath);
    }
}
