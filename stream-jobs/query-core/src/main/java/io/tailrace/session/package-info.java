/** What is known of a server's connections from the log's earlier entries. */
package io.tailrace.session;
