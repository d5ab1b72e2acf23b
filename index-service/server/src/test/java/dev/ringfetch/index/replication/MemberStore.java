package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.v1.GroupState;

/** A store of a replica that is not to lead, and without a snapshot unless the test has one. */
interface MemberStore extends GroupStore {
  @Override
  default void lead(GroupLog log, GroupState group) {
    throw new AssertionError();
  }

  @Override
  default void reconfigured(GroupState group) {
    throw new AssertionError();
  }

  @Override
  default void endWrites() {
    throw new AssertionError();
  }

  @Override
  default GroupSnapshot snapshot(Runnable wake) {
    throw new AssertionError();
  }
}
