/**
 * The replication of a group: a log whose records are committed when all members have them, and
 * fail-over between them.
 */
package dev.ringfetch.index.replication;
