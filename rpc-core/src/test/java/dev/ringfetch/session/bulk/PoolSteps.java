package dev.ringfetch.session.bulk;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.CompletionRouter;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.HeapMemory;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.session.SessionAccess;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.SessionSteps;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A pool under a test's clock, with a queue pair that does as it is told. */
public final class PoolSteps {
  private final SessionSteps session = new SessionSteps(SessionSteps.Sizes.ROOMY);
  private final QueuePair queuePair = mock(QueuePair.class);
  private final List<HeapMemory> registered = new ArrayList<>();
  private Runnable onRegister = () -> {};
  private boolean refused;
  private boolean pretended;
  private int attempts;

  public PoolSteps() {
    when(queuePair.memory()).thenReturn(new DirectRegion(64));
    try {
      when(queuePair.register(anyInt())).thenAnswer(call -> register(call.getArgument(0)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private HeapMemory register(int length) throws IOException {
    attempts++;
    onRegister.run();
    if (refused) {
      throw new IOException("refused by a test");
    }
    DirectRegion heap = HeapMemory.allocate(pretended ? 64 : length);
    MemoryRegion view = heap;
    if (pretended) {
      view = mock(MemoryRegion.class);
      when(view.length()).thenReturn(length);
    }
    HeapMemory memory = new HeapMemory(heap, view, registered.size());
    registered.add(memory);
    return memory;
  }

  /** Runs whenever memory is being registered. */
  void onRegister(Runnable action) {
    onRegister = action;
  }

  /** Whether no memory is to be had. */
  void refuse(boolean refuse) {
    refused = refuse;
  }

  /** What is registered from now on only has a length. */
  void pretend() {
    pretended = true;
  }

  /** How often memory was asked for. */
  int attempts() {
    return attempts;
  }

  HeapMemory memory(int number) {
    return registered.get(number);
  }

  void advance(long nanos) {
    session.advance(nanos);
  }

  /** The peer takes the memory away, of what was only pretended to be there. */
  void takeAway(int number) {
    when(memory(number).region().getLong(anyInt())).thenThrow(new InternalError("by a test"));
  }

  /** The session ends. */
  void end() {
    session.client.end("over");
  }

  /** Why the session has ended, after all that its threads have to do. */
  String endReason() {
    session.settle();
    return session.client.endReason();
  }

  /** What one of the session's counters is at. */
  long count(Counter counter) {
    return session.client.count(counter);
  }

  /** An empty pool. */
  BulkPool pool(int bulkLength) {
    return pool(new SessionContext().bulkLength(bulkLength));
  }

  public BulkPool pool(SessionContext context) {
    when(queuePair.capabilities()).thenReturn(session.fabric.client().capabilities());
    final var path = new BulkPath(queuePair, new CompletionRouter(queuePair), false);
    return new BulkPool(SessionAccess.bulkOwner(session.client), path, context);
  }

  /** A pool whose first memory the peer has attached. */
  public BulkPool grown(int bulkLength) {
    BulkPool pool = pool(bulkLength);
    pool.allocate(1);
    attach(pool);
    return pool;
  }

  /** The peer attaches what is on offer. */
  public void attach(BulkPool pool) {
    assertNotNull(pool.takeOffer(Integer.MAX_VALUE), "nothing is on offer");
    assertTrue(pool.onAnswer(true));
  }
}
