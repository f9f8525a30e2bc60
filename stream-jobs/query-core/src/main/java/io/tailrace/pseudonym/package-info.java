/**
 * Pseudonyms of users and clients, and their names in the vault. {@code schemas/contracts/pseudonym.json} defines the
 * rule, which the commands {@code tailrace erase} and {@code tailrace reveal} implement, too.
 */
package io.tailrace.pseudonym;
