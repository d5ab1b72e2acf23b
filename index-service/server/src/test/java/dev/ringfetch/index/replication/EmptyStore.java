package dev.ringfetch.index.replication;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupSnapshot;
import dev.ringfetch.index.log.GroupStore;
import dev.ringfetch.index.v1.GroupState;

/** A store that keeps nothing, and of which no snapshot is asked. */
class EmptyStore implements GroupStore {
  @Override
  public void clear(GroupState group) {}

  @Override
  public void apply(JournalRecord record) {}

  @Override
  public void restore(JournalRecord record) {}

  @Override
  public void lead(GroupLog log, GroupState group) {}

  @Override
  public void reconfigured(GroupState group) {}

  @Override
  public void endWrites() {}

  @Override
  public void follow() {}

  @Override
  public GroupSnapshot snapshot(Runnable wake) {
    throw new AssertionError();
  }
}
