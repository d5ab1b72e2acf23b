/**
 * Internal: the replicas of a node: roles, commit, copies for new members, fail-over and orderly
 * stops of each group.
 */
package dev.ringfetch.index.replication;
