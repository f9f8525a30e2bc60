package io.tailrace.plan;

/**
 * How a node's rows are joined with the preceding ones.
 *
 * @param type inner join, left join, semijoin, antijoin, as the server writes it (version 2); otherwise empty
 * @param algorithm {@code nested_loop}, {@code hash}; for a join buffer the server's name, such as {@code Block
 *     Nested Loop} or MariaDB's {@code BNLH}; empty if none is named
 * @param buffer {@code flat} or {@code incremental}, and the size, of MariaDB's join buffers
 */
public record JoinMethod(String type, String algorithm, String buffer) {}
