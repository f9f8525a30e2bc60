package io.tailrace.formats;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names of users, hosts and databases that resemble parts of logs. */
final class AttackerNames {

    /** Texts with a meaning in one of the formats. */
    private static final List<String> PIECES = List.of(
            "'",
            "\"",
            "`",
            ",",
            "\\",
            "\t",
            "<",
            ">",
            "&",
            "[",
            "]",
            "{",
            "}",
            ";",
            "#",
            ":",
            "@",
            " ",
            "=",
            "''",
            "\"\"",
            "\",\"",
            "','",
            ",'",
            "',0",
            "\\'",
            "\\\"",
            "/>",
            "\"/>",
            "/*",
            "--",
            "&lt;",
            "&#10;",
            "{}",
            "{\"",
            "\":",
            "%s",
            "\u00e9",
            " @ ",
            "] @ ",
            " Id: 9",
            "# User@Host: root[root",
            "x[x] @ h [10.0.0.9]",
            "x[x] @ localhost []",
            "#012",
            "x,h,1,2,CONNECT,d,,0",
            ",1,2,QUERY,d,'",
            ",h,1,2,QUERY,d,'SELECT 3',0",
            "'. Query: 'b",
            " query: DROP TABLE t",
            " got signal 11",
            "Assertion failure",
            "eadlock detected, dumping detailed information",
            "xtrabackup",
            "a@b on c",
            " on ",
            " using ",
            " as ",
            "'@'");

    private static final int MAX_PIECES = 6;

    /** Their servers write names as they are: a name with a line feed is two lines, which no reader can join. */
    static final Set<String> NAMES_AS_THEY_ARE = Set.of(
            "mariadb-audit", "mariadb-audit-syslog", "aurora-audit", "mysql-slow", "mysql-general", "mysql-error");

    /**
     * What a host can be in these formats: an address, perhaps with a port, or a name that resolvers accept, as
     * {@code res_hnok} of glibc defines it. In other formats, a host is any text.
     */
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9_.:-]+");

    private static final String NO_HOST_CHARACTER = "[^A-Za-z0-9_.:-]+";

    private AttackerNames() {}

    /**
     * Returns the pieces and entries of all formats, alone and within a name, and names that end like the start of an
     * entry. Servers refuse a blank at the end of a name.
     */
    static List<String> of(LogWriter writer) {
        Stream<String> entries = LogWriter.all().stream()
                .flatMap(each -> Stream.of(each.before(), each.record().apply("SELECT 3")))
                .map(entry -> entry.replace('\n', ' '));
        List<String> names = new ArrayList<>(Stream.concat(PIECES.stream(), entries)
                .flatMap(name -> Stream.of(name.stripTrailing(), "a" + name + "b"))
                .filter(name -> !name.isEmpty())
                .toList());
        boolean escaped = !NAMES_AS_THEY_ARE.contains(writer.format());
        Stream.of(writer.before(), writer.beforeNames())
                .flatMap(AttackerNames::beginnings)
                .map(start -> escaped ? start : start.replace('\n', ' '))
                .map(String::stripTrailing)
                .distinct()
                .forEach(names::add);
        if (escaped) {
            names.add("a\nb");
            names.add("a\n" + writer.record().apply("SELECT 3") + "b");
        }
        return names;
    }

    private static Stream<String> beginnings(String before) {
        return Stream.iterate(1, end -> end < before.length(), end -> end + 1)
                .map(end -> "a" + before.substring(0, end));
    }

    /** Returns a host that resembles a name: the name itself, or without the characters that no host of the format has. */
    static String host(LogWriter writer, String name) {
        if (!NAMES_AS_THEY_ARE.contains(writer.format()) || HOST.matcher(name).matches()) {
            return name;
        }
        String host = name.replaceAll(NO_HOST_CHARACTER, "");
        return host.isEmpty() ? "a" : host;
    }

    /** Returns a name of some pieces. */
    static String pieces(Random random) {
        StringBuilder name = new StringBuilder();
        for (int i = random.nextInt(MAX_PIECES); i > 0; i--) {
            name.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return name.append('x').toString();
    }
}
