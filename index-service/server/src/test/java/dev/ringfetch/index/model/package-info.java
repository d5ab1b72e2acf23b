/**
 * An explicit-state model of replication: gates, epochs, logs and reads, searched exhaustively in
 * small scopes, with a mutant for each of its rules.
 */
package dev.ringfetch.index.model;
