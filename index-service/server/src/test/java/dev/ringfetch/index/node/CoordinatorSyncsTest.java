package dev.ringfetch.index.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Which look at the coordinator counts for a call, and how long a call waits for it. */
final class CoordinatorSyncsTest {
  private final LocalCoordinator coordinator = new LocalCoordinator.Truth().connect();
  private final List<Status.Code> told = new ArrayList<>();
  private long nowNs = Long.MAX_VALUE - CoordinatorSyncs.LIMIT_NS / 2; // a clock that turns over
  private int wakeUps;
  private Executor calls = Runnable::run;
  private final CoordinatorSyncs syncs =
      new CoordinatorSyncs(coordinator, () -> wakeUps++, () -> nowNs, task -> calls.execute(task));

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
          public void onDroppedGroups(Collection<Long> newest) {}

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

  @Test
  void noCallGoesOnOnTheNodesThread() {
    final List<Runnable> tasks = new ArrayList<>();
    calls = tasks::add;
    ask();
    ask();
    syncs.work();
    poll();
    assertEquals(List.of(), told);
    tasks.forEach(Runnable::run);
    assertEquals(List.of(Status.Code.OK, Status.Code.OK), told);
  }

  @Test
  void moreCallsThanTheLimitAreRefusedUntilOthersHaveGoneOn() {
    final List<Runnable> tasks = new ArrayList<>();
    calls = tasks::add;
    for (int i = 0; i < CoordinatorSyncs.MAX_WAITING; i++) {
      ask();
    }
    syncs.work();
    poll(); // they wait for the executor now
    assertEquals(List.of(), told);
    syncs.sync(
        failure -> {
          assertEquals(Status.Code.RESOURCE_EXHAUSTED, failure.getStatus().getCode());
          assertTrue(failure.getStatus().getDescription().startsWith(StatusTexts.OVERLOADED));
          tell(failure);
        });
    assertEquals(List.of(Status.Code.RESOURCE_EXHAUSTED), told);
    tasks.remove(0).run();
    ask();
    ask();
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, told.get(2));
    calls = Runnable::run;
    tasks.forEach(Runnable::run);
    syncs.work();
    poll();
    assertEquals(
        CoordinatorSyncs.MAX_WAITING + 1,
        told.stream().filter(code -> code == Status.Code.OK).count());
  }

  @Test
  void aCallThatThrowsHasNoEffectOnOthers() {
    syncs.sync(
        failure -> {
          throw new IllegalStateException("a call that fails");
        });
    ask();
    syncs.work();
    poll();
    assertEquals(List.of(Status.Code.OK), told);
    ask();
    syncs.work();
    poll();
    assertEquals(2, told.size());
  }

  @Test
  void anExecutorThatEndsKeepsNoAnswerBack() {
    calls =
        task -> {
          throw new RejectedExecutionException();
        };
    ask();
    syncs.close();
    assertEquals(List.of(Status.Code.UNAVAILABLE), told);
  }
}
