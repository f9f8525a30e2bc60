package io.tailrace.statement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Collects the tables that a text names. The tables between UPDATE and SET, and those of a DELETE, are candidates:
 * what precedes or follows them determines which of them are written.
 */
final class TableReferences {

    /** Maximum number of tables reported for one text, in each role. */
    private static final int MAX_TABLES = 1_000;

    /** Maximum number of tables of one UPDATE or DELETE: a join has at most 61. */
    private static final int MAX_CANDIDATES = 100;

    private static final class Candidate {
        final TableName name;
        String alias = "";
        boolean written;

        Candidate(TableName name) {
            this.name = name;
        }

        boolean answersTo(TableName wanted) {
            String own = alias.isEmpty() ? name.table() : alias;
            boolean sameDatabase = wanted.database().isEmpty()
                    || alias.isEmpty() && wanted.database().equals(name.database());
            return sameDatabase && own.equalsIgnoreCase(wanted.table());
        }
    }

    private final Set<String> read = new LinkedHashSet<>();
    private final Set<String> written = new LinkedHashSet<>();
    private final List<Candidate> candidates = new ArrayList<>();
    private final List<TableName> targets = new ArrayList<>();
    /** Names of common table expressions in scope, with their number. */
    private final Map<String, Integer> expressions = new HashMap<>();

    private final List<String> expressionsInOrder = new ArrayList<>();
    private Candidate latest;
    private boolean complete;
    private boolean lacksFrom;
    private boolean explained;
    private boolean defined;
    private boolean assignsUnknown;

    void start() {
        read.clear();
        written.clear();
        candidates.clear();
        targets.clear();
        expressions.clear();
        expressionsInOrder.clear();
        complete = true;
        lacksFrom = false;
        explained = false;
        defined = false;
        assignsUnknown = false;
    }

    /** Marks the statement as only explained: a table that it would write counts as read. */
    void explain() {
        explained = true;
    }

    /** Marks what follows as the body of a program that is only defined: a table that it would write counts as read. */
    void define() {
        defined = true;
    }

    /** Records that not all tables are known. */
    void incomplete() {
        complete = false;
    }

    /** Records that not all tables are known if the text continues. */
    void incompleteUnlessWhole() {
        lacksFrom = true;
    }

    void read(TableName name) {
        if (!isExpression(name)) {
            add(read, name);
        }
    }

    void written(TableName name) {
        add(explained || defined ? read : written, name);
    }

    private void add(Set<String> tables, TableName name) {
        if (tables.size() < MAX_TABLES) {
            tables.add(name.text());
        } else {
            complete = false;
        }
    }

    private boolean isExpression(TableName name) {
        return !expressions.isEmpty()
                && name.database().isEmpty()
                && expressions.containsKey(TableName.folded(name.table()));
    }

    /** Returns the number of common table expressions in scope, to which {@link #closeScope} returns. */
    int openScope() {
        return expressionsInOrder.size();
    }

    void defineExpression(String name) {
        String folded = TableName.folded(name);
        expressionsInOrder.add(folded);
        expressions.merge(folded, 1, Integer::sum);
    }

    void closeScope(int size) {
        while (expressionsInOrder.size() > size) {
            String name = expressionsInOrder.remove(expressionsInOrder.size() - 1);
            expressions.computeIfPresent(name, (key, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Ends a statement: another one of the same text follows. */
    void endStatement() {
        closeScope(0);
        explained = false;
    }

    /** Adds a table that may be written. */
    void candidate(TableName name) {
        latest = null;
        if (isExpression(name)) {
            return;
        }
        if (candidates.size() == MAX_CANDIDATES) {
            complete = false;
            return;
        }
        latest = new Candidate(name);
        candidates.add(latest);
    }

    /** Adds an alias of the latest candidate. */
    void alias(String alias) {
        if (latest != null) {
            latest.alias = alias;
        }
    }

    /** Adds a table of a DELETE by its name or alias. */
    void target(TableName name) {
        if (targets.size() < MAX_CANDIDATES) {
            targets.add(name);
        } else {
            complete = false;
        }
    }

    /** Handles {@code DELETE FROM a, b USING …}: the candidates are the targets. */
    void candidatesAreTargets() {
        for (Candidate candidate : candidates) {
            target(candidate.name);
        }
        candidates.clear();
    }

    /**
     * Records that an UPDATE assigns a column of this table; null means that the statement does not qualify the
     * column.
     */
    void assigned(TableName owner) {
        if (candidates.size() == 1) {
            candidates.get(0).written = true;
        } else if (owner == null) {
            assignsUnknown = true;
        } else {
            markWritten(owner);
        }
    }

    private boolean markWritten(TableName owner) {
        boolean found = false;
        for (Candidate candidate : candidates) {
            if (candidate.answersTo(owner)) {
                candidate.written = true;
                found = true;
            }
        }
        return found;
    }

    /** Ends an UPDATE. If the table of an assigned column is unknown, each of its tables may be written. */
    void finishUpdate() {
        boolean each = assignsUnknown || candidates.size() == 1;
        complete &= !assignsUnknown;
        assignsUnknown = false;
        for (Candidate candidate : candidates) {
            candidate.written |= each;
        }
        finishCandidates();
    }

    /** Ends a DELETE. */
    void finishDelete() {
        if (targets.isEmpty()) {
            candidates.forEach(candidate -> candidate.written = true);
        }
        for (TableName target : targets) {
            if (!markWritten(target)) {
                written(target);
            }
        }
        targets.clear();
        finishCandidates();
    }

    private void finishCandidates() {
        for (Candidate candidate : candidates) {
            if (candidate.written) {
                written(candidate.name);
            } else {
                read(candidate.name);
            }
        }
        candidates.clear();
    }

    StatementTables tables(String verb) {
        return new StatementTables(
                verb, new ArrayList<>(read), new ArrayList<>(written), complete && !lacksFrom, complete);
    }
}
