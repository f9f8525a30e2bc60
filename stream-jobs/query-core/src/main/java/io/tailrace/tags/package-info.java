/** Tags and trace ids that an application adds to its statements in comments. */
package io.tailrace.tags;
