/**
 * Internal: the journal of an index server: records of what its partitions wrote, synced to a disk
 * together, and read again by the next server.
 */
package dev.ringfetch.index.journal;
