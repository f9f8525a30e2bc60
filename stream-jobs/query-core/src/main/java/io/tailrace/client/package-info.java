/** The client of an event, as an address or a host name in one form for all formats. */
package io.tailrace.client;
