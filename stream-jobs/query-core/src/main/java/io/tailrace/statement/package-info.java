/**
 * What a statement does to which tables, read from its masked text in one pass: {@link io.tailrace.statement.Tokens}
 * cuts it into tokens, {@link io.tailrace.statement.StatementReader} knows how each kind of statement begins,
 * {@link io.tailrace.statement.ClauseReader} follows queries and their clauses through any depth of parentheses, and
 * {@link io.tailrace.statement.TableReferences} decides in the end what was read and what was written.
 */
package io.tailrace.statement;
