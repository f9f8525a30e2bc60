/**
 * Encodes and decodes the state of a log as numbered byte arrays, with the version of its layout. It depends on no other
 * package of the reassembly.
 */
package io.tailrace.reassembly.state;
