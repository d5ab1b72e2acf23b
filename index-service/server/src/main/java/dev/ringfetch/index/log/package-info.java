/**
 * Internal: the log of a group on one node: its records in memory and in the journal, their
 * recovery, and the contract of the store that applies them.
 */
package dev.ringfetch.index.log;
