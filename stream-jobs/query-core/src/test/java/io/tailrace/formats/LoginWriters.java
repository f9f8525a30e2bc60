package io.tailrace.formats;

import io.tailrace.formats.LogWriter.Login;
import io.tailrace.formats.LogWriter.Names;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Writes logins like a server, with the escapes of each format. {@code RenderedLog} of the module cli writes the same ones. */
final class LoginWriters {

    /** By the name of the format. A format without logins is listed in {@link NamesInLoginsTest}, with the reason. */
    static final Map<String, Login> OF_FORMATS = writers();

    private LoginWriters() {}

    private static Map<String, Login> writers() {
        Map<String, Login> writers = new LinkedHashMap<>();
        writers.put("mariadb-audit", (names, refused) -> "20261121 02:44:17," + mariaDb(names, refused));
        writers.put(
                "mariadb-audit-syslog",
                (names, refused) -> "2026-11-21T02:44:17Z vm mysql-server_auditing: " + mariaDb(names, refused));
        writers.put("aurora-audit", (names, refused) -> "1767323046000122," + mariaDb(names, refused));
        writers.put("percona-audit-json", LoginWriters::pluginJson);
        writers.put(
                "percona-audit-syslog",
                (names, refused) -> "Jan  2 03:04:05 db1 percona-audit: " + pluginJson(names, refused));
        writers.put("percona-audit-csv", LoginWriters::csv);
        for (String owner : List.of("percona-audit", "percona-audit-filter", "mysql-enterprise-audit")) {
            writers.put(owner + "-xml-old", LoginWriters::xmlAttributes);
            writers.put(owner + "-xml-new", LoginWriters::xmlElements);
        }
        writers.put("percona-audit-filter-json", LoginWriters::filterJson);
        writers.put("mysql-enterprise-audit-json", LoginWriters::filterJson);
        writers.put("mcafee-audit-json", LoginWriters::mcAfee);
        writers.put("mysql-general", LoginWriters::general);
        writers.put("mysql-error", LoginWriters::error);
        return Map.copyOf(writers);
    }

    private static int status(boolean refused) {
        return refused ? 1045 : 0;
    }

    private static String mariaDb(Names names, boolean refused) {
        return "vm," + names.user() + ',' + names.host() + ",9,0," + (refused ? "FAILED_CONNECT," : "CONNECT,")
                + names.database() + ",," + status(refused) + '\n';
    }

    /** Returns the members of Percona's plugin and of plugins with the same ones; a refused login has no account. */
    private static Map<String, String> plugin(Names names, boolean refused, UnaryOperator<String> escaped) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("name", "Connect");
        members.put("record", "5_2026-11-21T02:50:36");
        members.put("timestamp", "2026-11-21T02:50:37 UTC");
        members.put("connection_id", "9");
        members.put("status", "" + status(refused));
        members.put("user", escaped.apply(names.user()));
        members.put("priv_user", refused ? "" : escaped.apply(names.user()));
        members.put("os_login", "");
        members.put("proxy_user", "");
        members.put("host", escaped.apply(names.host()));
        members.put("ip", "");
        members.put("db", escaped.apply(names.database()));
        return members;
    }

    private static String pluginJson(Names names, boolean refused) {
        StringBuilder json = new StringBuilder();
        plugin(names, refused, LogWriter::json).forEach((name, value) -> {
            String quote = name.equals("status") ? "" : "\"";
            json.append(json.isEmpty() ? "\"" : ",\"").append(name).append("\":");
            json.append(quote).append(value).append(quote);
        });
        return "{\"audit_record\":{" + json + "}}\n";
    }

    private static String csv(Names names, boolean refused) {
        StringBuilder csv = new StringBuilder();
        plugin(names, refused, LogWriter::doubled).forEach((name, value) -> {
            String quote = name.equals("status") ? "" : "\"";
            csv.append(csv.isEmpty() ? "" : ",").append(quote).append(value).append(quote);
        });
        return csv.append('\n').toString();
    }

    private static String xmlAttributes(Names names, boolean refused) {
        StringBuilder xml = new StringBuilder("<AUDIT_RECORD\n");
        plugin(names, refused, LogWriter::xml)
                .forEach((name, value) -> xml.append("  " + name.toUpperCase(Locale.ROOT) + "=\"" + value + "\"\n"));
        return xml.append("/>\n").toString();
    }

    private static String xmlElements(Names names, boolean refused) {
        StringBuilder xml = new StringBuilder("<AUDIT_RECORD>\n");
        plugin(names, refused, LogWriter::xml).forEach((name, value) -> {
            String tag = name.toUpperCase(Locale.ROOT);
            xml.append("  <" + tag + '>' + value + "</" + tag + ">\n");
        });
        return xml.append("</AUDIT_RECORD>\n").toString();
    }

    private static String filterJson(Names names, boolean refused) {
        String user = LogWriter.json(names.user());
        return "{ \"timestamp\": \"2026-11-21 02:50:37\", \"id\": 1, \"class\": \"connection\", \"event\": \"connect\", "
                + "\"connection_id\": 9, \"account\": { \"user\": \"" + (refused ? "" : user) + "\", \"host\": \""
                + LogWriter.json(names.host()) + "\" }, \"login\": { \"user\": \"" + user
                + "\", \"os\": \"\", \"ip\": \"\", \"proxy\": \"\" }, \"connection_data\": { \"connection_type\": \"tcp/ip\", "
                + "\"status\": " + status(refused) + ", \"db\": \"" + LogWriter.json(names.database()) + "\" } },\n";
    }

    private static String mcAfee(Names names, boolean refused) {
        String user = LogWriter.json(names.user());
        String command = refused ? "Failed Login" : "Connect";
        return "{\"msg-type\":\"activity\",\"date\":\"1767323046028\",\"thread-id\":\"9\",\"user\":\"" + user
                + "\",\"priv_user\":\"" + user + "\",\"host\":\"" + LogWriter.json(names.host()) + "\",\"cmd\":\""
                + command
                + "\",\"status\":\"" + status(refused) + "\",\"query\":\"" + command + "\"}\n";
    }

    private static String general(Names names, boolean refused) {
        String argument = refused
                ? denied(names)
                : names.user() + '@' + names.host() + " on " + names.database() + " using TCP/IP";
        return "2026-11-21T02:49:03.000000Z\t    9 Connect\t" + argument + '\n';
    }

    /** The log of errors contains refused logins only. */
    private static String error(Names names, boolean refused) {
        return refused ? "2026-11-21T02:51:07.000000Z 9 [Note] " + denied(names) + '\n' : "";
    }

    private static String denied(Names names) {
        return "Access denied for user '" + names.user() + "'@'" + names.host() + "' (using password: YES)";
    }
}
