package dev.ringfetch.index.replication;

import dev.ringfetch.index.v1.Durability;

/** The disks that have a record before it is committed, as the level of a group's index says. */
enum AwaitedDisks {
  /** Those of all members. */
  ALL,

  /** That of the leader. */
  LEADERS,

  /** None: the group is in memory alone, or its members write to their disks a little later. */
  NONE;

  static AwaitedDisks of(Durability level) {
    return switch (level) {
      case DISK -> ALL;
      case LEADER_DISK -> LEADERS;
      default -> NONE;
    };
  }
}
