package io.tailrace.cli.help;

/** The version of Tailrace that this program belongs to. */
public final class Version {

    /** Major, minor and patch number. `.ci/version --write` sets it from the file VERSION. */
    public static final String VERSION = "0.2.0";

    private Version() {}
}
