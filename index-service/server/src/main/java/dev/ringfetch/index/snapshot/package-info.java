/**
 * Internal: snapshots of served indexes: one walk over entries and outcomes, for a file or for the
 * member of a group.
 */
package dev.ringfetch.index.snapshot;
