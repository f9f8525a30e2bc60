/** Formats plans for a terminal. */
package io.tailrace.cli.plan;
