/** The flags of events and their wire names. */
package io.tailrace.flag;
