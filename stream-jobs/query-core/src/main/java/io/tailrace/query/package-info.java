/** What all formats of the kind slowlog share when they build a query event. */
package io.tailrace.query;
