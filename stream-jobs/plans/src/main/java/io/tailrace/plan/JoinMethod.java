package io.tailrace.plan;

/**
 * How a node's rows meet those before.
 *
 * @param type inner join, left join, semijoin, antijoin, as the server writes it (version 2); empty where it does not
 * @param algorithm {@code nested_loop}, {@code hash}; of a join buffer the server's words, such as
 *     {@code Block Nested Loop} or MariaDB's {@code BNLH}; empty where none is named
 * @param buffer {@code flat} or {@code incremental} and its size, of MariaDB's join buffers
 */
public record JoinMethod(String type, String algorithm, String buffer) {}
