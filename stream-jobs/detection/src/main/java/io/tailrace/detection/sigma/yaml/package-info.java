/**
 * Reads YAML documents with limits of length and depth, and reports errors with their positions. The other files of a
 * bundle are read with it too. It depends on no other package of Tailrace.
 */
package io.tailrace.detection.sigma.yaml;
