package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sleeping on several descriptors, and being woken. */
final class FileDescriptorsTest {
  private static final int COUNT = 2;
  private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);

  private final int[] events = new int[COUNT];
  private final ByteBuffer entries =
      ByteBuffer.allocateDirect(COUNT * PollLayout.SIZE).order(ByteOrder.nativeOrder());

  @BeforeEach
  void create() throws IOException {
    RdmaAssumptions.assumeBuilt();
    assertTrue(NativeLibrary.loaded(), NativeLibrary::unavailableBecause);
    for (int i = 0; i < COUNT; i++) {
      events[i] = FileDescriptors.createEvent();
      entries.putInt(i * PollLayout.SIZE + PollLayout.DESCRIPTOR, events[i]);
      entries.putShort(i * PollLayout.SIZE + PollLayout.WANTED, (short) PollLayout.READABLE);
    }
  }

  @AfterEach
  void close() {
    for (int event : events) {
      if (event != 0) {
        FileDescriptors.close(event);
      }
    }
  }

  @Test
  void nothingIsReadyUntilSignalled() {
    assertEquals(0, poll(0));
    assertEquals(0, FileDescriptors.signal(events[1]));
    assertEquals(0, FileDescriptors.signal(events[1]));
    assertEquals(1, poll(-1));
    assertEquals(0, ready(0));
    assertEquals(PollLayout.READABLE, ready(1));
    assertEquals(0, FileDescriptors.drain(events[1]));
    assertEquals(0, poll(0));
    assertEquals(0, FileDescriptors.drain(events[1]), "draining what is empty");
  }

  @Test
  void timeoutIsWaitedFor() {
    long begin = System.nanoTime();
    assertEquals(0, poll(2_000_000));
    assertTrue(System.nanoTime() - begin >= 2_000_000);
  }

  @Test
  void anotherThreadWakesTheSleeper() throws Exception {
    CompletableFuture<Integer> sleeper = CompletableFuture.supplyAsync(() -> poll(DEADLINE_NS));
    FileDescriptors.signal(events[0]);
    assertEquals(1, sleeper.get(60, TimeUnit.SECONDS));
    assertEquals(PollLayout.READABLE, ready(0));
  }

  @Test
  void closedDescriptorIsToldAtOnce() {
    assertEquals(0, FileDescriptors.close(events[0]));
    entries.putInt(PollLayout.DESCRIPTOR, Integer.MAX_VALUE);
    assertEquals(1, poll(-1));
    events[0] = 0;
    assertTrue(ready(0) != 0);
    assertTrue(FileDescriptors.signal(Integer.MAX_VALUE) < 0);
  }

  private int poll(long timeoutNs) {
    return FileDescriptors.poll(Regions.address(entries), COUNT, timeoutNs);
  }

  private int ready(int entry) {
    return entries.getShort(entry * PollLayout.SIZE + PollLayout.READY);
  }
}
