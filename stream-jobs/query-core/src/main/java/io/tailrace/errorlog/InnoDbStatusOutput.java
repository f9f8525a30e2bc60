package io.tailrace.errorlog;

import io.tailrace.lexer.ByteText;

/**
 * Recognizes what a client prints around the monitor's output: {@code SHOW ENGINE INNODB STATUS}, with or without \G.
 */
final class InnoDbStatusOutput {

    private static final byte[] ROW = ByteText.ascii("*************************** 1. row");
    private static final byte[] TYPE = ByteText.ascii("  Type: InnoDB");
    private static final byte[] NAME = ByteText.ascii("  Name:");
    private static final byte[] STATUS = ByteText.ascii("Status:");
    private static final byte[] COLUMNS = ByteText.ascii("Type\tName\tStatus");
    private static final byte[] ENGINE = ByteText.ascii("InnoDB\t\t");
    private static final byte[] FOOTER = ByteText.ascii("1 row in set");

    private InnoDbStatusOutput() {}

    static boolean isAround(byte[] bytes, int from, int to) {
        return ByteText.startsWith(bytes, from, to, ROW)
                || ByteText.startsWith(bytes, from, to, TYPE)
                || ByteText.startsWith(bytes, from, to, NAME)
                || ByteText.startsWith(bytes, from, to, STATUS) && ByteText.trimBlanks(bytes, from, to) == from + 7
                || ByteText.startsWith(bytes, from, to, COLUMNS)
                || ByteText.startsWith(bytes, from, to, ENGINE) && ByteText.trimBlanks(bytes, from, to) == from + 6
                || ByteText.startsWith(bytes, from, to, FOOTER);
    }
}
