/**
 * Names of accounts and roles: where the grammar allows one, and which ones a statement concerns. It depends on {@code
 * token}, and on {@code flag} for prepared statements.
 */
package io.tailrace.fingerprint.account;
