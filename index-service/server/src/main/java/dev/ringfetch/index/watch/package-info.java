/**
 * Internal: the changes of an index, for calls that watch them: those of late in memory, older ones
 * out of the journal, and the join of both.
 */
package dev.ringfetch.index.watch;
