package dev.ringfetch.index.coordinator;

import dev.ringfetch.index.v1.DroppedGroups;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The deliveries of a coordinator's states to a listener, which is told what has changed.
 *
 * <p>Used by one thread at a time.
 */
final class Deliveries {
  private final Map<Long, Integer> toldVersions = new HashMap<>();
  private DroppedGroups toldDropped = DroppedGroups.getDefaultInstance();
  private Map<Long, Node> toldNodes = Map.of();

  /** Delivers the groups that have changed; returns the number of calls. */
  int deliver(Collection<GroupState> groups, Coordinator.Listener listener) {
    int calls = 0;
    final Set<Long> gone = new HashSet<>(toldVersions.keySet());
    groups.forEach(group -> gone.remove(group.getGroup()));
    for (final long group : gone) {
      toldVersions.remove(group);
      listener.onDropped(group);
      calls++;
    }
    for (final GroupState group : groups) {
      final Integer told = toldVersions.put(group.getGroup(), group.getVersion());
      if (told == null || told != group.getVersion()) {
        listener.onGroup(group);
        calls++;
      }
    }
    return calls;
  }

  /** Delivers dropped groups and nodes, if they have changed; returns the number of calls. */
  int deliver(DroppedGroups dropped, Map<Long, Node> nodes, Coordinator.Listener listener) {
    int calls = 0;
    if (!dropped.equals(toldDropped)) {
      toldDropped = dropped;
      listener.onDroppedGroups(Coordinator.ids(dropped));
      calls++;
    }
    if (!nodes.equals(toldNodes)) {
      toldNodes = nodes;
      listener.onNodes(nodes.values());
      calls++;
    }
    return calls;
  }
}
