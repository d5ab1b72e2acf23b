/**
 * Internal: the indexes that a server serves, as calls and snapshots see them, and the threads,
 * time and shared memory under them.
 */
package dev.ringfetch.index.host;
