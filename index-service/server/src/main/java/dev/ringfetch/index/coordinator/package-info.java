/**
 * The contract between nodes and the coordinator of a cluster, which stores groups and their
 * leaders, and knows the live nodes.
 */
package dev.ringfetch.index.coordinator;
