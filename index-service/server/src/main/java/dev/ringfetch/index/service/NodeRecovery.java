package dev.ringfetch.index.service;

import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.journal.RecordSink;
import dev.ringfetch.index.replication.GroupRecovery;
import dev.ringfetch.index.replication.GroupStoreException;
import dev.ringfetch.index.replication.Replicas;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The groups that the journal of a cluster's node has.
 *
 * <p>Used by one thread at a time.
 */
final class NodeRecovery implements RecordSink {
  private final Replicas.StoreFactory stores;
  private final Map<Long, GroupRecovery> groups = new TreeMap<>();

  /** Creates it, of nothing. */
  NodeRecovery(Replicas.StoreFactory stores) {
    this.stores = stores;
  }

  @Override
  public void onRecord(JournalRecord record, Supplier<String> place) throws IOException {
    if (record.index() == 0
        || record.type() == RecordDescriptor.CREATE_INDEX
        || record.type() == RecordDescriptor.DROP_INDEX) {
      throw new IOException(
          "the directory has indexes of a server that belonged to no cluster; start with another"
              + " one, and load them: "
              + place.get()
              + " "
              + record);
    }
    try {
      groups
          .computeIfAbsent(record.index(), group -> new GroupRecovery(group, stores))
          .onRecord(record);
    } catch (GroupStoreException e) {
      throw new IOException(e.getMessage() + ": " + place.get(), e);
    }
  }

  /** Hands over all groups of which there is something, and keeps none. */
  Collection<GroupRecovery> takeGroups() {
    final List<GroupRecovery> taken =
        groups.values().stream().filter(GroupRecovery::isPresent).toList();
    groups.clear();
    return taken;
  }
}
