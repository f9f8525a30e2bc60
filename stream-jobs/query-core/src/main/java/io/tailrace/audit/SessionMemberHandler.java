package io.tailrace.audit;

import io.tailrace.audit.record.MemberHandler;
import io.tailrace.lexer.ByteText;
import io.tailrace.session.SessionTracker;
import io.tailrace.session.UseStatement;
import java.nio.charset.StandardCharsets;

/**
 * Extracts from a record what it states about the default database of its connection. It supports the members that
 * {@code PluginMemberHandler}, {@code FilterMemberHandler} and {@code McAfeeMemberHandler} read. Not thread-safe.
 */
final class SessionMemberHandler implements MemberHandler {

    private static final int MAX_NAME_LENGTH = 320;

    /** Stored as the account of a connection whose login named its database. */
    private static final String BY_LOGIN = "login";

    private final UseStatement use = new UseStatement();

    private long connection;
    private String command;
    private String recordClass;
    private String event;
    private boolean failed;
    private boolean changesDatabase;
    /** Null if the record names none. */
    private String database;

    /** Null if the record's statement selects none, empty if the one that it selects is unknown. */
    private String used;

    private String object;

    void start() {
        connection = -1;
        command = "";
        recordClass = "";
        event = "";
        failed = false;
        changesDatabase = false;
        database = null;
        used = null;
        object = "";
    }

    @Override
    public void member(String name, byte[] value, int length) {
        switch (name) {
            case "connection_id", "thread-id" -> connection = ByteText.unsigned(value, 0, length);
            case "class" -> recordClass = text(value, length);
            case "event" -> event = text(value, length);
            case "name", "cmd", "general_data.command", "command_data.command" -> command = text(value, length);
            case "status", "connection_data.status", "general_data.status", "query_data.status" -> failed =
                    !text(value, length).equals("0");
            case "command_class", "general_data.sql_command", "query_data.sql_command" -> changesDatabase =
                    text(value, length).equals("change_db");
            case "db", "connection_data.db", "objects.db" -> database = text(value, length);
            case "sqltext", "query", "general_data.query", "query_data.query" -> used = use.database(value, 0, length);
            case "objects.obj_type" -> object = text(value, length);
            case "msg-type" -> recordClass = text(value, length);
            default -> {}
        }
    }

    private static String text(byte[] value, int length) {
        return length > MAX_NAME_LENGTH ? "" : new String(value, 0, length, StandardCharsets.ISO_8859_1);
    }

    /**
     * Updates the sessions with the record; returns the default database of its connection, raw, or an empty text if
     * unknown.
     */
    String apply(SessionTracker sessions) {
        if (startsOrEnds()) {
            sessions.clear();
        }
        if (connection < 0) {
            return "";
        }
        change(sessions);
        String known = sessions.of(connection).database();
        if (isEnd()) {
            sessions.quit(connection);
        }
        return known;
    }

    /**
     * Returns whether the server or its log starts or ends: connections are numbered from the beginning, or some were
     * not logged.
     */
    private boolean startsOrEnds() {
        return switch (recordClass) {
            case "audit", "server_startup", "server_shutdown", "header" -> true;
            default -> command.equals("Audit") || command.equals("NoAudit") || command.equals("Startup");
        };
    }

    private void change(SessionTracker sessions) {
        if (isLogin()) {
            if (failed) {
                sessions.quit(connection);
            } else {
                sessions.connect(connection, BY_LOGIN, database == null ? "" : database);
            }
        } else if (!failed && isOver()) {
            ofStatement(sessions);
        }
    }

    /**
     * Returns whether the record is a login. Filters may write a second record of the same command, of another class,
     * which names no database.
     */
    private boolean isLogin() {
        boolean named = command.equals("Connect") || command.equals("Change user");
        return switch (recordClass) {
            case "connection" -> event.equals("connect") || event.equals("change_user");
            case "activity" -> named;
            case "" -> named && database != null;
            default -> false;
        };
    }

    private boolean isEnd() {
        return recordClass.equals("connection") && event.equals("disconnect")
                || command.equals("Quit")
                || command.equals("Disconnect");
    }

    /** Returns whether the record states an outcome; records that are written before a statement runs do not. */
    private boolean isOver() {
        return switch (recordClass) {
            case "general" -> event.equals("status");
            case "query" -> event.equals("query_status_end");
            case "", "activity" -> true;
            default -> false;
        };
    }

    private void ofStatement(SessionTracker sessions) {
        switch (command) {
            case "Init DB" -> sessions.use(connection, nameOfInitDb());
            case "Change user" -> {
                if (sessions.of(connection).account().isEmpty()) {
                    sessions.quit(connection);
                }
            }
            default -> {
                if (used != null) {
                    sessions.use(connection, used);
                } else if (changesDatabase) {
                    sessions.use(connection, "");
                }
            }
        }
    }

    /** Returns the database that the command selected. Most writers do not log it, so it is unknown from then on. */
    private String nameOfInitDb() {
        return object.equals("DATABASE") && database != null ? database : "";
    }
}
