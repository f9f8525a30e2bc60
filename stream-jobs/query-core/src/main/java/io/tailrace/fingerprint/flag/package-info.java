/**
 * Detects properties of a statement's literals and of its text, which its class does not show
 * (docs/FINGERPRINT.md, "Flags that describe literals"). It depends on {@code token}.
 */
package io.tailrace.fingerprint.flag;
