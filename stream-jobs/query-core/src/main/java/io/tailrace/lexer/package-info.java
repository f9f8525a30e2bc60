/**
 * The lexical rules of MySQL and MariaDB, and helpers for raw bytes. {@code SqlBytes} defines words and comments;
 * {@code StatementScanner} defines literals, quoted names and the end of a statement. All other readers of statements
 * use them; docs/ARCHITECTURE.md lists the readers that have a grammar of their own, and why.
 */
package io.tailrace.lexer;
