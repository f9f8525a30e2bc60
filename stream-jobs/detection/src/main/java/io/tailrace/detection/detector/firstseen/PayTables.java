package io.tailrace.detection.detector.firstseen;

import java.util.regex.Pattern;

/** Recognizes tables of what an employer pays to each person, by their names. */
final class PayTables {

    /** Two names of a server with a point between them, characters. */
    private static final int MAX_LENGTH = 129;

    private static final Pattern NAMES = Pattern.compile("(?i)(.*[._])?"
            + "(salar(y|ies)|payrolls?|pay_?slips?|pay_?stubs?|wages?|compensations?|gehaelter|gehaltsabrechnung(en)?|loehne"
            + "|lohn_?abrechnung(en)?|nominas?|salarios|paies?|salaires|bulletins_?paie|stipendi|buste_?paga|salarissen"
            + "|wynagrodzenia|wyplaty|pensje|folha(_[a-z_]+)?|holerites?|mzdy|maaslar|loner|loenn|lonninger|palkat|mishahara"
            + "|gaji|lonn|lonner|fizetesek|salarii|vencimentos|ordenados|remuneracoes)");

    private PayTables() {}

    /** Returns whether a table, with or without its database, is one of pay. */
    static boolean contain(String table) {
        return table.length() <= MAX_LENGTH && NAMES.matcher(table).matches();
    }
}
