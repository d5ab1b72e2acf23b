/**
 * Clients with numbers, and the outcomes of their writes, by which a write that is sent again is
 * not carried out again.
 */
package dev.ringfetch.index.outcome;
