/**
 * Determines from the masked text of a statement, in one pass, what it does to which tables. {@link
 * io.tailrace.statement.Tokens} splits it into tokens, {@link io.tailrace.statement.StatementReader} recognizes the
 * start of each kind of statement, {@link io.tailrace.statement.ClauseReader} follows queries and their clauses
 * through any depth of parentheses, and {@link io.tailrace.statement.TableReferences} decides which tables are read
 * and which are written.
 */
package io.tailrace.statement;
