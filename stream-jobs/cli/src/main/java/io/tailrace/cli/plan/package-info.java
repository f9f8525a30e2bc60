/** Plans as people read them in a terminal. */
package io.tailrace.cli.plan;
