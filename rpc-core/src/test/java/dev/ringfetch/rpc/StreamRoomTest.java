package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Attributes;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When streams of sessions are given up for calls that wait, in a time of the test's own. */
final class StreamRoomTest implements StreamRoom.Sessions {
  private final List<Task> due = new ArrayList<>();
  private final List<Boolean> made = new ArrayList<>();
  private long nowNs;
  private final StreamRoom room = new StreamRoom(this, () -> nowNs, this::later);

  @Test
  void aCallThatWaitsInTwoLooksMakesRoom() {
    enter();
    pass(StreamRoom.PATIENCE_NS);
    assertEquals(List.of(), made);
    pass(StreamRoom.AGAIN_NS);
    assertEquals(List.of(true), made);
  }

  @Test
  void aCallThatIsSentAfterAPauseDoesNot() {
    for (int i = 0; i < 3; i++) {
      final ClientStreamTracer call = enter();
      pass(2 * StreamRoom.PATIENCE_NS);
      call.outboundHeaders();
      pass(StreamRoom.AGAIN_NS);
    }
    assertEquals(List.of(), made);
    assertEquals(0, due.size());
  }

  @Test
  void aCallLacksAStreamUntilItIsSent() {
    final ClientStreamTracer call = enter();
    assertFalse(room.isLacking());
    pass(StreamRoom.PATIENCE_NS);
    assertTrue(room.isLacking());
    enter();
    call.outboundHeaders();
    assertFalse(room.isLacking());
  }

  @Test
  void oneLookIsDueHoweverManyStreamsEnd() {
    enter();
    for (int i = 0; i < 10; i++) {
      room.onReleased();
      assertEquals(1, due.size());
    }
    pass(StreamRoom.PATIENCE_NS / 10);
    assertEquals(1, due.size());
    assertEquals(List.of(false), made); // which flushes, and gives nothing up
  }

  @Test
  void whatIsDueMayKeepItsThread() throws Exception {
    final CompletableFuture<String> name = new CompletableFuture<>();
    final Runnable unused =
        SessionEndpoint.later(() -> name.complete(Thread.currentThread().getName()), 1);
    final String told = name.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertTrue(told.startsWith("ringfetch-executor-"), told);
  }

  private ClientStreamTracer enter() {
    final ClientStreamTracer call =
        room.of(Bytes.METHOD).newClientStreamTracer(null, new Metadata());
    call.streamCreated(Attributes.EMPTY, new Metadata());
    call.outboundMessage(0);
    return call;
  }

  /** As one pause: what was due in it runs at its end. */
  private void pass(long ns) {
    nowNs += ns;
    for (Task task : List.copyOf(due)) {
      if (task.atNs <= nowNs && due.remove(task)) {
        task.run.run();
      }
    }
  }

  private Runnable later(Runnable run, long delayNs) {
    final Task task = new Task(run, nowNs + delayNs);
    due.add(task);
    return () -> due.remove(task);
  }

  @Override
  public boolean haveStreams() {
    return true;
  }

  @Override
  public void makeRoom(boolean lacking) {
    made.add(lacking);
  }

  @Override
  public void onCallSent() {}

  private record Task(Runnable run, long atNs) {}
}
