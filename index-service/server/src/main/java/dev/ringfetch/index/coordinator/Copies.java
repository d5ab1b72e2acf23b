package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.GroupState;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The groups of a copy of a data directory. The coordinator's file was copied before the journal:
 * groups may have come and gone meanwhile.
 */
final class Copies {
  private Copies() {}

  /**
   * The groups with which a copy goes on, by their numbers: all of the journal, of one name the one
   * that is not in the file, as it is younger.
   *
   * @param ofFile the groups in the coordinator's file
   * @param ofJournal the groups in the journal, as they began there
   */
  static Map<Long, GroupState> kept(
      Collection<GroupState> ofFile, Collection<GroupState> ofJournal) {
    final Map<Long, GroupState> inFile = new LinkedHashMap<>();
    ofFile.forEach(group -> inFile.put(group.getGroup(), group));
    final Map<String, GroupState> byName = new LinkedHashMap<>();
    for (final GroupState found : ofJournal) {
      final GroupState known = inFile.get(found.getGroup());
      final GroupState other = byName.get(found.getIndex());
      if (other == null || known == null) {
        byName.put(found.getIndex(), known == null ? found : known);
      }
    }
    final Map<Long, GroupState> kept = new LinkedHashMap<>();
    byName.values().forEach(group -> kept.put(group.getGroup(), group));
    return kept;
  }

  /** The state in which a group of a copy goes on. */
  static GroupState adopted(GroupState group, long node, LongSupplier random) throws IOException {
    if (group.getRecovery().getCount() >= Recoveries.LIMIT) {
      throw new IOException(
          "no version is left: index=" + group.getIndex() + "; start with an empty directory");
    }
    return Recoveries.recovered(group, node, 0, random.getAsLong() | 1, random.getAsLong() | 1);
  }
}
