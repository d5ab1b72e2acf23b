/**
 * Internal: the write path of an index's partition. One owner at a time validates writes, appends
 * them to the partition's log, and applies them to its store after their commit.
 */
package dev.ringfetch.index.partition;
