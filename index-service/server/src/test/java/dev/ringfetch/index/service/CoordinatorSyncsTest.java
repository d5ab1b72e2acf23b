package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.v1.DroppedGroup;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which look at the coordinator counts for a call, and how long a call waits for it. */
final class CoordinatorSyncsTest {
  private final LocalCoordinator coordinator = new LocalCoordinator.Truth().connect();
  private final List<Status.Code> told = new ArrayList<>();
  private long nowNs = Long.MAX_VALUE - CoordinatorSyncs.LIMIT_NS / 2; // a clock that turns over
  private int wakeUps;
  private final CoordinatorSyncs syncs =
      new CoordinatorSyncs(coordinator, () -> wakeUps++, () -> nowNs);

  private void ask() {
    syncs.sync(this::tell);
  }

  private void tell(StatusException failure) {
    told.add(failure == null ? Status.Code.OK : failure.getStatus().getCode());
  }

  private void poll() {
    coordinator.poll(
        new Coordinator.Listener() {
          @Override
          public void onGroup(GroupState state) {}

          @Override
          public void onDropped(long group) {}

          @Override
          public void onDroppedGroups(Collection<DroppedGroup> newest) {}

          @Override
          public void onNodes(Collection<Node> nodes) {}

          @Override
          public void onConnected(boolean connected) {}
        });
  }

  @Test
  void aCallThatComesDuringALookWaitsForTheNext() {
    ask();
    ask();
    assertEquals(2, wakeUps);
    syncs.work();
    ask();
    syncs.work();
    poll();
    assertEquals(List.of(Status.Code.OK, Status.Code.OK), told);
    syncs.work();
    poll();
    assertEquals(3, told.size());
    syncs.work();
    poll();
    assertEquals(3, told.size());
  }

  @Test
  void aCallDoesNotWaitLong() {
    ask();
    syncs.work();
    nowNs += CoordinatorSyncs.LIMIT_NS / 2;
    ask(); // waits for the next look
    nowNs += CoordinatorSyncs.LIMIT_NS / 2 - 1;
    syncs.work();
    assertFalse(told.contains(Status.Code.UNAVAILABLE));
    nowNs++;
    syncs.work();
    assertEquals(List.of(Status.Code.UNAVAILABLE), told);
    nowNs += CoordinatorSyncs.LIMIT_NS / 2;
    syncs.work();
    assertEquals(2, told.size());
    poll(); // the answer of the first one comes late
    assertEquals(2, told.size());
  }

  @Test
  void withoutTheCoordinatorNothingIsKnown() {
    coordinator.reachable(false);
    ask();
    syncs.work();
    poll();
    assertEquals(List.of(Status.Code.UNAVAILABLE), told);
  }

  @Test
  void theEndOfTheNodeAnswersAll() {
    ask();
    syncs.work();
    ask();
    syncs.close();
    ask();
    assertEquals(
        List.of(Status.Code.UNAVAILABLE, Status.Code.UNAVAILABLE, Status.Code.UNAVAILABLE), told);
  }
}
