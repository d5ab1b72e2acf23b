package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.GroupState;
import org.jspecify.annotations.Nullable;

/**
 * A request of a replica to the coordinator.
 *
 * @param seen the newest state that the replica knows
 * @param proposed to be won; null: the won configuration is to be established
 */
record Proposal(GroupState seen, @Nullable Configuration proposed) {}
