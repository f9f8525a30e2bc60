package io.tailrace.statement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tables that a text names. Those between UPDATE and SET, or of a DELETE, are candidates: only what follows, or
 * stood before, tells which of them are written.
 */
final class TableReferences {

    /** Most tables that are told of one text, in each role. */
    private static final int MAX_TABLES = 1_000;

    /** Most tables of one UPDATE or DELETE: a join has at most 61. */
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
    /** Names of common table expressions in scope, and how often. */
    private final Map<String, Integer> expressions = new HashMap<>();

    private final List<String> expressionsInOrder = new ArrayList<>();
    private Candidate latest;
    private boolean complete;
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
        explained = false;
        defined = false;
        assignsUnknown = false;
    }

    /** The statement is only explained: what it would write it reads. */
    void explain() {
        explained = true;
    }

    /** What follows is the body of a program that is only defined: what it would write it reads. */
    void define() {
        defined = true;
    }

    /** Not every table is known. */
    void incomplete() {
        complete = false;
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

    /** How many common table expressions are in scope: what {@link #closeScope} goes back to. */
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

    /** What follows is another statement of the same text. */
    void endStatement() {
        closeScope(0);
        explained = false;
    }

    /** A table that may be written. */
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

    /** Another name of the latest candidate. */
    void alias(String alias) {
        if (latest != null) {
            latest.alias = alias;
        }
    }

    /** A table of a DELETE by its name or alias. */
    void target(TableName name) {
        if (targets.size() < MAX_CANDIDATES) {
            targets.add(name);
        } else {
            complete = false;
        }
    }

    /** {@code DELETE FROM a, b USING …}: what looked like the tables are the targets. */
    void candidatesAreTargets() {
        for (Candidate candidate : candidates) {
            target(candidate.name);
        }
        candidates.clear();
    }

    /** An UPDATE assigns a column of this table; without a name it is that of the only one. */
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

    /** An UPDATE ends: without a known owner of an assigned column, each of its tables may be written. */
    void finishUpdate() {
        boolean each = assignsUnknown || candidates.size() == 1;
        complete &= !assignsUnknown;
        assignsUnknown = false;
        for (Candidate candidate : candidates) {
            candidate.written |= each;
        }
        finishCandidates();
    }

    /** A DELETE ends. */
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
        return new StatementTables(verb, new ArrayList<>(read), new ArrayList<>(written), complete);
    }
}
