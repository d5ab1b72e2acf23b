package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.shm.ShmProvider;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Channels that are built at the same time, while it takes long to open a fabric. */
@Timeout(120)
final class SharedFabricsTest extends RingFixture {
  private final ExecutorService builders = Executors.newCachedThreadPool();
  private final Slow slow = new Slow();

  @AfterEach
  void openSlowly() {
    slow.opens.countDown();
    builders.shutdownNow();
  }

  @Test
  void slowFabricDelaysNoChannelWithOtherFabrics() throws Exception {
    serve(Bytes.digesting());
    final Future<RingChannel> waits = builders.submit(() -> build(slowly()));
    slow.opening.await();
    final RingChannelBuilder others = builder().providers(List.of(new ShmProvider()));
    final RingChannel other = get(builders.submit(() -> connect(others)));
    assertFalse(waits.isDone());
    assertEquals(1, call(other, 1).length);
    slow.opens.countDown();
    assertTrue(get(waits).awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).isOpen());
  }

  @Test
  void channelsWithTheSameFabricsOpenThemOnce() throws Exception {
    serve(Bytes.digesting());
    final RingChannelBuilder builder = slowly();
    final Future<RingChannel> first = builders.submit(() -> build(builder));
    slow.opening.await();
    final Future<RingChannel> second = builders.submit(() -> build(slowly()));
    slow.opens.countDown();
    assertFalse(get(first).isShutdown());
    assertFalse(get(second).isShutdown());
    assertEquals(1, slow.opened.get());
  }

  @Test
  void fabricThatCannotBeOpenedIsTriedByTheNextChannel() throws Exception {
    serve(Bytes.digesting());
    slow.opens.countDown();
    slow.broken = new OutOfMemoryError("by a test");
    assertThrows(OutOfMemoryError.class, () -> build(slowly()));
    slow.broken = null;
    connect(slowly());
    assertEquals(2, slow.opened.get());
  }

  private RingChannelBuilder slowly() {
    return builder().providers(List.of(slow));
  }

  private static RingChannel get(Future<RingChannel> built) throws Exception {
    return built.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  /** Shared memory that waits for the test before it opens. */
  private static final class Slow implements FabricProvider {
    final CountDownLatch opening = new CountDownLatch(1);
    final CountDownLatch opens = new CountDownLatch(1);
    final AtomicInteger opened = new AtomicInteger();
    volatile Error broken;

    @Override
    public String name() {
      return "shm";
    }

    @Override
    public int priority() {
      return 1;
    }

    @Override
    public String unavailability() {
      return null;
    }

    @Override
    public Fabric open(FabricContext context) throws IOException {
      opened.incrementAndGet();
      opening.countDown();
      try {
        opens.await();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      if (broken != null) {
        throw broken;
      }
      return new ShmProvider().open(context);
    }
  }
}
