/**
 * Internal: the data directory of an index server, which outlives the server: one process owns it
 * at a time, each in an incarnation of its own.
 */
package dev.ringfetch.index.data;
