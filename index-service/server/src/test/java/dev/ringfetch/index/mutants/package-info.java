/**
 * Breaks index memory in one place at a time and runs tests on it: see {@code src/test/mutants}.
 */
package dev.ringfetch.index.mutants;
