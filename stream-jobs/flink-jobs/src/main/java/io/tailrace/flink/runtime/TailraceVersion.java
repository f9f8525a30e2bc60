package io.tailrace.flink.runtime;

/** The version of this build. */
public final class TailraceVersion {

    private static final String UNPACKAGED = "development";

    private TailraceVersion() {}

    /** Returns the version in the jar's manifest; {@value #UNPACKAGED} if the classes are not in a jar. */
    public static String get() {
        String version = TailraceVersion.class.getPackage().getImplementationVersion();
        return version == null ? UNPACKAGED : version;
    }
}
