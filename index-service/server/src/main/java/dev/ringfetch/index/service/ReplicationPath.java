package dev.ringfetch.index.service;

/** How records get from a leader to the members of its index. */
public enum ReplicationPath {
  /** Placed in the members' memory where nodes share memory, by calls elsewhere. */
  AUTO,
  /** The same, and a node that has no memory to share does not start. */
  ONE_SIDED,
  /** By calls alone. */
  RPC
}
