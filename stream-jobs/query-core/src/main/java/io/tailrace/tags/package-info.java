/** What an application says about itself in the comments of its statements, and the trace that it names. */
package io.tailrace.tags;
