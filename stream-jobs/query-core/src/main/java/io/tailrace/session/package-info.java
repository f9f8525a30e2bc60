/** The state of a server's connections, derived from the earlier entries of a log. */
package io.tailrace.session;
