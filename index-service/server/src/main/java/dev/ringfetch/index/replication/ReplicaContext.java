package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Node;
import java.util.function.LongSupplier;
import org.agrona.ErrorHandler;

/**
 * What a replica works with.
 *
 * @param group its group
 * @param self the node
 * @param partitions of the index
 * @param peers connections to other nodes
 * @param store what the records are applied to
 * @param clock in nanoseconds
 * @param nonces numbers drawn at random, never 0
 * @param errors is told what a store throws, by any thread
 */
record ReplicaContext(
    long group,
    Node self,
    int partitions,
    Peers peers,
    GroupStore store,
    LongSupplier clock,
    LongSupplier nonces,
    ErrorHandler errors) {}
