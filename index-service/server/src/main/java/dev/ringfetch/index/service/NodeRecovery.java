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
import org.agrona.ErrorHandler;

/**
 * The groups that the journal of a cluster's node has.
 *
 * <p>Used by one thread at a time.
 */
final class NodeRecovery implements RecordSink {
  private final Replicas.StoreFactory stores;
  private final ErrorHandler errors;
  private final Map<Long, GroupRecovery> groups = new TreeMap<>();

  /**
   * Creates it, of nothing.
   *
   * @param errors is told of groups whose records are given up
   */
  NodeRecovery(Replicas.StoreFactory stores, ErrorHandler errors) {
    this.stores = stores;
    this.errors = errors;
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
    final GroupRecovery group =
        groups.computeIfAbsent(record.index(), number -> new GroupRecovery(number, stores));
    try {
      group.onRecord(record);
    } catch (GroupStoreException e) {
      final String text = e.getMessage() + ": " + place.get();
      if (!group.isDefined()) {
        throw new IOException(text, e);
      }
      errors.onError( // other groups go on
          new GroupStoreException("the group's records here count no more: " + text, e));
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
