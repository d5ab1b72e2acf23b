/**
 * Breaks the sources of ring and session in one place at a time, and has the tests find it. See
 * docs/mutants.md.
 */
package dev.ringfetch.mutants;
