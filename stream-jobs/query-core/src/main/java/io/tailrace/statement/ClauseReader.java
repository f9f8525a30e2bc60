package io.tailrace.statement;

/**
 * Reads a query, or the clauses of another statement, token by token. The meaning of a token depends on the phase of
 * the innermost open parenthesis. The phases are stored in an array, so that no depth of nesting needs recursion.
 */
final class ClauseReader {

    /** The position within one pair of parentheses, which determines what may come next. */
    enum Phase {
        /** A whole statement, which the caller reads. */
        STATEMENT,
        /** The first word in a parenthesis of an expression: a query or anything else. */
        QUERY_START,
        /** The first word in a parenthesis where a table is expected: a query or tables. */
        TABLES_START,
        /** After UNION, EXCEPT or INTERSECT. */
        SET_OPERATION,
        /** After SELECT, before FROM. */
        SELECT_LIST,
        /** A table, in FROM or a join. */
        FACTOR,
        /** After a table's name. */
        ALIAS,
        /** After a table and its alias: a join, its condition, a comma, or the next clause. */
        JOINED,
        /** Between FOR and the parenthesis of an index hint. */
        HINT,
        /** Where tables occur only in subqueries. */
        EXPRESSION,
        /** The column that an UPDATE assigns. */
        ASSIGNMENT,
        /** The value that an UPDATE assigns. */
        ASSIGNED,
        /** After the table of an INSERT or REPLACE. */
        INSERTED,
        /** After the name of a table or view that is defined. */
        DEFINITION,
        /** After UNION in a definition: the tables of a MERGE table, or another query. */
        MERGED_TABLES,
        /** After the name of a table that is altered. */
        ALTERATION,
        /** The name of a common table expression. */
        CTE_NAME,
        /** After that name, before AS. */
        CTE_AS,
        /** Before the parenthesis of a common table expression. */
        CTE_BODY,
        /** After that parenthesis. */
        CTE_END,
        /** Before THEN or DO of a block. */
        CONDITION,
        /** The settings of {@code SET STATEMENT … FOR}. */
        SETTINGS,
        /** The rest of the statement names no tables. */
        IGNORED
    }

    /** The role of the tables outside of subqueries. */
    enum Role {
        READ,
        UPDATED,
        /** {@code DELETE FROM a}, or {@code DELETE FROM a USING …}. */
        DELETED,
        /** {@code DELETE a FROM …}. */
        TARGETED
    }

    /** Maximum depth of parentheses that is read; servers reject statements that are far less deep. */
    private static final int MAX_DEPTH = 1_000;

    /** Symbols that another operand follows. */
    private static final String BINARY_OPERATORS = ",+<>=&|^";

    private final Tokens tokens;
    private final TableReferences references;
    private final SelectItems items = new SelectItems();

    private final Phase[] phases = new Phase[MAX_DEPTH + 1];
    private final boolean[] candidates = new boolean[MAX_DEPTH + 1];
    private final int[] scopes = new int[MAX_DEPTH + 1];
    private final String[] expressions = new String[MAX_DEPTH + 1];
    private final boolean[] recursive = new boolean[MAX_DEPTH + 1];
    private int depth;
    private int tooDeep;
    private Role role;
    private StatementKeyword previous;
    /** The latest symbol, or 0 if another token followed it. */
    private byte last;
    /** The latest keyword, or OTHER if another token followed it. */
    private StatementKeyword lastWord;

    private boolean program;
    /** The first keyword of the latest query: SELECT, VALUES or TABLE. */
    private String queryVerb;
    /** The query after common table expressions is in parentheses. */
    private boolean endsWithParentheses;

    ClauseReader(Tokens tokens, TableReferences references) {
        this.tokens = tokens;
        this.references = references;
    }

    String queryVerb() {
        return queryVerb;
    }

    /** Returns whether the text contained the query after common table expressions, in parentheses. */
    boolean endsWithParentheses() {
        return endsWithParentheses;
    }

    /** Reads from the current token to the statement's end, or to the start of another statement. */
    void read(Phase first, Role roleOfTables) {
        depth = 0;
        tooDeep = 0;
        role = roleOfTables;
        previous = StatementKeyword.OTHER;
        last = 0;
        lastWord = StatementKeyword.OTHER;
        queryVerb = "";
        endsWithParentheses = false;
        phases[0] = first;
        candidates[0] = roleOfTables != Role.READ;
        boolean stops = false;
        while (!stops && !tokens.atEnd() && !tokens.at(';')) {
            step();
            stops = depth == 0 && phases[0] == Phase.STATEMENT;
        }
        if (!stops && isCut()) {
            references.incomplete();
        } else if (!stops && tokens.atEnd() && phases[0] == Phase.SELECT_LIST && !program && items.hasNames()) {
            references.incompleteUnlessWhole();
        }
    }

    /** Marks what follows as the body of a program, in which names may be variables. */
    void program(boolean isProgram) {
        program = isProgram;
    }

    private boolean isCut() {
        return depth > 0
                || tooDeep > 0
                || tokens.atEnd() && lacksText()
                || switch (phases[0]) {
                    case FACTOR,
                            CTE_NAME,
                            CTE_AS,
                            CTE_BODY,
                            CTE_END,
                            SET_OPERATION,
                            QUERY_START,
                            MERGED_TABLES,
                            ASSIGNMENT -> true;
                    case ALIAS, JOINED -> role == Role.UPDATED;
                    default -> false;
                };
    }

    /** Returns whether the last clause cannot end as the text does. */
    private boolean lacksText() {
        return switch (phases[0]) {
            case SELECT_LIST -> !program && (items.isCut() || lastWord.awaitsOperand());
            case INSERTED -> queryVerb.isEmpty();
            case EXPRESSION, ASSIGNED, JOINED -> last != 0 && BINARY_OPERATORS.indexOf(last) >= 0
                    || lastWord.awaitsOperand();
            default -> false;
        };
    }

    private void step() {
        last = tokens.symbol;
        lastWord = tokens.word;
        if (tokens.at('(')) {
            open();
            tokens.advance();
        } else if (tokens.at(')')) {
            close();
            tokens.advance();
        } else if (tooDeep > 0) {
            tokens.advance();
        } else {
            StatementKeyword word = tokens.word;
            phase(word);
            previous = word;
        }
    }

    private void open() {
        if (depth == MAX_DEPTH || tooDeep > 0) {
            tooDeep++;
            references.incomplete();
            return;
        }
        Phase outer = phases[depth];
        if (depth == 0 && outer == Phase.SELECT_LIST) {
            items.parenthesis();
        }
        endsWithParentheses |= depth == 0 && outer == Phase.CTE_END;
        boolean tables = outer == Phase.FACTOR || outer == Phase.TABLES_START;
        if (outer == Phase.CTE_BODY && recursive[depth]) {
            references.defineExpression(expressions[depth]);
        }
        phases[depth] = afterParenthesis(outer);
        candidates[depth + 1] = tables && candidates[depth];
        depth++;
        phases[depth] = inner(outer);
        scopes[depth] = references.openScope();
    }

    private static Phase inner(Phase outer) {
        return switch (outer) {
            case FACTOR, TABLES_START, MERGED_TABLES -> Phase.TABLES_START;
            case IGNORED -> Phase.IGNORED;
            default -> Phase.QUERY_START;
        };
    }

    private static Phase afterParenthesis(Phase phase) {
        return switch (phase) {
            case FACTOR, TABLES_START, ALIAS, HINT -> Phase.JOINED;
            case QUERY_START, SET_OPERATION, STATEMENT, CTE_END -> Phase.EXPRESSION;
            case ASSIGNMENT -> Phase.ASSIGNED;
            case MERGED_TABLES -> Phase.DEFINITION;
            default -> phase;
        };
    }

    private void close() {
        if (tooDeep > 0) {
            tooDeep--;
        } else if (depth > 0) {
            references.closeScope(scopes[depth]);
            depth--;
            if (phases[depth] == Phase.CTE_BODY) {
                endExpression();
            }
        }
    }

    private void endExpression() {
        if (!recursive[depth]) {
            references.defineExpression(expressions[depth]);
        }
        phases[depth] = Phase.CTE_END;
    }

    /** Reads the current token and moves to the next one, or enters another phase with the current one. */
    private void phase(StatementKeyword word) {
        switch (phases[depth]) {
            case QUERY_START, SET_OPERATION -> queryStart(word);
            case TABLES_START -> {
                if (!beginsQuery(word)) {
                    go(Phase.FACTOR);
                }
            }
            case SELECT_LIST -> selectList(word);
            case FACTOR -> factor(word);
            case ALIAS -> alias(word);
            case JOINED -> joined(word);
            case EXPRESSION -> expression(word);
            case ASSIGNMENT -> assignment();
            case ASSIGNED -> assigned(word);
            case INSERTED -> inserted(word);
            case DEFINITION -> definition(word);
            case MERGED_TABLES -> {
                if (tokens.at('=')) {
                    tokens.advance();
                } else {
                    go(Phase.DEFINITION);
                }
            }
            case ALTERATION -> alteration(word);
            case CTE_NAME -> expressionName(word);
            case CTE_AS -> next(word == StatementKeyword.AS ? Phase.CTE_BODY : Phase.EXPRESSION);
            case CTE_END -> expressionEnd(word);
            case CONDITION -> next(
                    word == StatementKeyword.THEN || word == StatementKeyword.DO ? Phase.STATEMENT : Phase.CONDITION);
            case SETTINGS -> next(word == StatementKeyword.FOR ? Phase.STATEMENT : Phase.SETTINGS);
            case HINT, CTE_BODY, IGNORED, STATEMENT -> tokens.advance();
        }
    }

    /** Enters a phase with the current token. */
    private void go(Phase phase) {
        phases[depth] = phase;
    }

    /** Enters a phase with the next token. */
    private void next(Phase phase) {
        phases[depth] = phase;
        tokens.advance();
    }

    private boolean beginsQuery(StatementKeyword word) {
        switch (word) {
            case SELECT -> {
                candidates[depth] &= depth == 0;
                if (depth == 0) {
                    items.start();
                }
                next(Phase.SELECT_LIST);
            }
            case VALUES -> next(Phase.EXPRESSION);
            case WITH -> {
                recursive[depth] = false;
                next(Phase.CTE_NAME);
                return true;
            }
            case TABLE -> {
                next(Phase.EXPRESSION);
                readTable();
            }
            default -> {
                return false;
            }
        }
        if (queryVerb.isEmpty()) {
            queryVerb = word.name();
        }
        return true;
    }

    private void queryStart(StatementKeyword word) {
        if (beginsQuery(word)) {
            return;
        }
        boolean setOperation = phases[depth] == Phase.SET_OPERATION;
        if (setOperation && (word == StatementKeyword.ALL || word == StatementKeyword.DISTINCT)) {
            tokens.advance();
        } else if (!setOperation && word == StatementKeyword.LIKE) {
            next(Phase.EXPRESSION);
            readTable();
        } else {
            go(Phase.EXPRESSION);
        }
    }

    private void selectList(StatementKeyword word) {
        if (depth == 0) {
            items.token(tokens);
        }
        switch (word) {
            case FROM -> next(Phase.FACTOR);
            case WHERE, GROUP, HAVING, ORDER, LIMIT -> next(Phase.EXPRESSION);
            default -> setOperationOr(word, Phase.SELECT_LIST);
        }
    }

    private void setOperationOr(StatementKeyword word, Phase same) {
        boolean operation =
                word == StatementKeyword.UNION || word == StatementKeyword.EXCEPT || word == StatementKeyword.INTERSECT;
        next(operation ? Phase.SET_OPERATION : same);
    }

    private void factor(StatementKeyword word) {
        if (tokens.at('{')) {
            skipEscapeName();
        } else if (word == StatementKeyword.LATERAL || tokens.at(',')) {
            tokens.advance();
        } else if (tokens.atName() && !word.endsReference() || tokens.at('.')) {
            table(word);
        } else {
            references.incomplete();
            next(Phase.JOINED);
        }
    }

    /** Skips the brace and the name of an ODBC escape: servers accept any name in <code>{oj t}</code>. */
    private void skipEscapeName() {
        tokens.advance();
        boolean quoted = tokens.kind == Tokens.Kind.QUOTED;
        if (!quoted && tokens.kind != Tokens.Kind.WORD && !tokens.at('?')) {
            return;
        }
        tokens.advance();
        while (!quoted && tokens.isGlued() && (tokens.kind == Tokens.Kind.WORD || tokens.at('?'))) {
            tokens.advance();
        }
    }

    /** Reads a name where a table is expected; one that a parenthesis follows is a table function. */
    private void table(StatementKeyword word) {
        boolean function = tokens.kind == Tokens.Kind.WORD && tokens.following() == '(';
        if (function || word == StatementKeyword.DUAL) {
            next(Phase.JOINED);
            return;
        }
        go(Phase.ALIAS);
        TableName name = tableName();
        if (name == null) {
            go(Phase.JOINED);
        } else if (candidates[depth]) {
            references.candidate(name);
        } else {
            references.read(name);
        }
    }

    private void alias(StatementKeyword word) {
        if (word == StatementKeyword.PARTITION) {
            partitions();
        } else if (word == StatementKeyword.AS) {
            tokens.advance();
        } else if (tokens.atName() && !word.endsReference()) {
            if (candidates[depth]) {
                references.alias(tokens.name());
            }
            next(Phase.JOINED);
        } else {
            go(Phase.JOINED);
        }
    }

    /** Skips {@code PARTITION (p0, p1)} between a table and its alias. */
    private void partitions() {
        tokens.advance();
        while (tokens.atName() || tokens.at('(') || tokens.at(',')) {
            tokens.advance();
        }
        if (tokens.at(')')) {
            tokens.advance();
        }
    }

    private void joined(StatementKeyword word) {
        switch (word) {
            case JOIN, STRAIGHT_JOIN -> next(Phase.FACTOR);
            case WHERE, GROUP, HAVING, ORDER, LIMIT, WINDOW, PROCEDURE, INTO, LOCK, RETURNING -> next(Phase.EXPRESSION);
            case DUPLICATE -> next(previous == StatementKeyword.ON ? Phase.EXPRESSION : Phase.JOINED);
            case FOR -> forWhat();
            case SET -> next(role == Role.UPDATED && depth == 0 ? Phase.ASSIGNMENT : Phase.EXPRESSION);
            case USING -> using();
            default -> {
                if (tokens.at(',')) {
                    next(Phase.FACTOR);
                } else {
                    setOperationOr(word, Phase.JOINED);
                }
            }
        }
    }

    /**
     * Reads {@code USE INDEX FOR JOIN (…)}, {@code FOR SYSTEM_TIME …}, {@code FOR PORTION OF …}, or {@code FOR
     * UPDATE}.
     */
    private void forWhat() {
        if (previous == StatementKeyword.INDEX || previous == StatementKeyword.KEY) {
            next(Phase.HINT);
            return;
        }
        tokens.advance();
        boolean time = tokens.word == StatementKeyword.SYSTEM_TIME || tokens.word == StatementKeyword.PORTION;
        go(time ? Phase.JOINED : Phase.EXPRESSION);
    }

    /** Reads {@code JOIN b USING (c)}, or {@code DELETE FROM a USING a JOIN b}. */
    private void using() {
        if (role == Role.DELETED && depth == 0 && tokens.following() != '(') {
            references.candidatesAreTargets();
            role = Role.TARGETED;
            next(Phase.FACTOR);
        } else {
            tokens.advance();
        }
    }

    private void expression(StatementKeyword word) {
        if (word == StatementKeyword.SELECT) {
            beginsQuery(word);
        } else {
            setOperationOr(word, Phase.EXPRESSION);
        }
    }

    /** Reads {@code a}, {@code t.a} or {@code db.t.a}. */
    private void assignment() {
        String database = "";
        String table = "";
        while (tokens.atName()) {
            String part = tokens.name();
            tokens.advance();
            if (!tokens.at('.')) {
                break;
            }
            database = table;
            table = part;
            tokens.advance();
        }
        references.assigned(table.isEmpty() ? null : new TableName(database, table));
        go(Phase.ASSIGNED);
    }

    private void assigned(StatementKeyword word) {
        switch (word) {
            case WHERE, ORDER, LIMIT, RETURNING -> next(Phase.EXPRESSION);
            default -> next(tokens.at(',') ? Phase.ASSIGNMENT : Phase.ASSIGNED);
        }
    }

    private void inserted(StatementKeyword word) {
        if (!beginsQuery(word)) {
            next(word == StatementKeyword.VALUE || word == StatementKeyword.SET ? Phase.EXPRESSION : Phase.INSERTED);
        }
    }

    private void definition(StatementKeyword word) {
        switch (word) {
            case SELECT, TABLE, VALUES -> beginsQuery(word);
            case WITH -> definitionWith();
            case UNION -> next(Phase.MERGED_TABLES);
            default -> next(word == StatementKeyword.AS ? Phase.QUERY_START : Phase.DEFINITION);
        }
    }

    /** Reads {@code WITH c AS (…)} or {@code WITH c (a) AS (…)}, or {@code WITH SYSTEM VERSIONING}. */
    private void definitionWith() {
        tokens.advance();
        recursive[depth] = tokens.skip(StatementKeyword.RECURSIVE);
        if (!tokens.atName()) {
            return;
        }
        String name = tokens.name();
        tokens.advance();
        if (recursive[depth] || tokens.at('(') || tokens.word == StatementKeyword.AS) {
            expressions[depth] = name;
            go(Phase.CTE_AS);
        }
    }

    /** Reads {@code RENAME TO b}, and {@code EXCHANGE PARTITION p WITH TABLE b}. */
    private void alteration(StatementKeyword word) {
        tokens.advance();
        if (word == StatementKeyword.TABLE) {
            writeTable();
        } else if (word == StatementKeyword.UNION) {
            mergedTables();
        } else if (word == StatementKeyword.RENAME
                && tokens.word != StatementKeyword.COLUMN
                && !tokens.skip(StatementKeyword.INDEX, StatementKeyword.KEY)) {
            tokens.skip(StatementKeyword.TO, StatementKeyword.AS);
            writeTable();
        }
    }

    /** Reads {@code UNION = (t, u)} of a MERGE table. */
    private void mergedTables() {
        if (tokens.at('=')) {
            tokens.advance();
        }
        while (tokens.at('(') || tokens.at(',')) {
            tokens.advance();
            if (!tokens.at(')')) {
                readTable();
            }
        }
        if (tokens.at(')')) {
            tokens.advance();
        }
    }

    private void expressionName(StatementKeyword word) {
        if (word == StatementKeyword.RECURSIVE) {
            recursive[depth] = true;
            tokens.advance();
        } else if (tokens.atName()) {
            expressions[depth] = tokens.name();
            next(Phase.CTE_AS);
        } else {
            next(Phase.EXPRESSION);
        }
    }

    /** Reads a comma, MariaDB's {@code CYCLE a, b RESTRICT}, or the statement that follows the expressions. */
    private void expressionEnd(StatementKeyword word) {
        switch (word) {
            case SELECT, TABLE, VALUES, WITH, UPDATE, DELETE, INSERT, REPLACE -> go(
                    depth == 0 ? Phase.STATEMENT : Phase.QUERY_START);
            case CYCLE -> cycle();
            default -> {
                if (tokens.at(',')) {
                    next(Phase.CTE_NAME);
                } else {
                    // an unknown clause: the statement is searched after it
                    references.incomplete();
                    tokens.advance();
                }
            }
        }
    }

    private void cycle() {
        do {
            tokens.advance();
            if (!tokens.atName()) {
                references.incomplete();
                return;
            }
            tokens.advance();
        } while (tokens.at(','));
        if (!tokens.skip(StatementKeyword.RESTRICT)) {
            references.incomplete();
        }
    }

    /** Records the table at the current token as read. */
    void readTable() {
        TableName name = tableName();
        if (name != null) {
            references.read(name);
        }
    }

    /** Records the table at the current token as written. */
    void writeTable() {
        TableName name = tableName();
        if (name != null) {
            references.written(name);
        }
    }

    /**
     * Returns the current name: {@code t}, {@code db.t}, {@code .t}, each also with {@code .*} after it. Returns null
     * if there is none, and if the text ends with it inside parentheses, because it may be cut then.
     */
    TableName tableName() {
        if (tokens.at('.')) {
            tokens.advance();
        }
        if (!tokens.atName()) {
            return unknown();
        }
        String database = "";
        String table = tokens.name();
        boolean last = tokens.isLast();
        tokens.advance();
        if (tokens.at('.')) {
            tokens.advance();
            if (tokens.at('*')) {
                tokens.advance();
                return named("", table);
            }
            if (!tokens.atName()) {
                return unknown();
            }
            database = table;
            table = tokens.name();
            last = tokens.isLast();
            tokens.advance();
            skipStar();
        }
        return last && depth > 0 ? unknown() : named(database, table);
    }

    private void skipStar() {
        if (tokens.at('.')) {
            tokens.advance();
            tokens.advance();
        }
    }

    private TableName named(String database, String table) {
        return table.isEmpty() ? unknown() : new TableName(database, table);
    }

    private TableName unknown() {
        references.incomplete();
        return null;
    }
}
