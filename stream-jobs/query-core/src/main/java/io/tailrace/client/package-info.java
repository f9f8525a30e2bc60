/** Who a log says the client is: an address or a host's name, under one form for all formats. */
package io.tailrace.client;
