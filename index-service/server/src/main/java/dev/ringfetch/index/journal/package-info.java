/**
 * Internal: the journal of an index server: the records of its partitions, synced to a disk
 * together, and read again by the next server.
 */
package dev.ringfetch.index.journal;
