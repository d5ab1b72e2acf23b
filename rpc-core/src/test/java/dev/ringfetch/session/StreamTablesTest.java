package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables that grow with their use, up to a limit. */
@Timeout(60)
class StreamTablesTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 255, 256, 257, 1000})
  void clientOpensAsManyAsThereCanBeAndNoMore(int max) {
    ClientStreams streams = new ClientStreams(max);
    assertEquals(max + 1, streams.length());
    assertNull(streams.get(max), "before its first call");
    List<ClientStream> open = new ArrayList<>();
    for (int index = 1; index <= max; index++) {
      ClientStream stream = streams.open();
      assertEquals(index, stream.index(), "the lowest first: tables stay small");
      assertSame(stream, streams.get(index));
      open.add(stream);
    }
    assertNull(streams.open());
    ClientStream last = open.get(max - 1);
    streams.recycle(last);
    assertSame(last, streams.open());
    assertNull(streams.open());
  }

  @Test
  void clientThatMakesOneCallAtATimeUsesOneStream() {
    ClientStreams streams = new ClientStreams(1000);
    ClientStream first = streams.open();
    for (int call = 0; call < 2000; call++) {
      streams.recycle(first);
      assertSame(first, streams.open());
    }
    assertNull(streams.get(2));
  }

  @Test
  void noTwoCallsHaveOneStream() throws Exception {
    final long seed = Long.getLong("ringfetch.seed", 1);
    final int max = 600;
    ClientStreams streams = new ClientStreams(max);
    AtomicIntegerArray owners = new AtomicIntegerArray(max + 1);
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        Random random = new Random(seed + thread);
        running.add(
            threads.submit(
                () -> {
                  Deque<ClientStream> mine = new ArrayDeque<>();
                  for (int step = 0; step < 100_000; step++) {
                    if (random.nextInt(1000) < 500 + 200 * Math.sin(step / 3000.0)) {
                      ClientStream stream = streams.open();
                      if (stream != null) {
                        assertEquals(1, owners.incrementAndGet(stream.index()), "seed=" + seed);
                        assertSame(stream, streams.get(stream.index()));
                        mine.add(stream);
                      }
                    } else if (!mine.isEmpty()) {
                      ClientStream stream = mine.remove();
                      owners.decrementAndGet(stream.index());
                      streams.recycle(stream);
                    }
                  }
                  mine.forEach(
                      stream -> {
                        owners.decrementAndGet(stream.index());
                        streams.recycle(stream);
                      });
                  return null;
                }));
      }
      for (Future<?> one : running) {
        one.get(50, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    for (int left = max; left > 0; left--) {
      assertNotNull(streams.open(), "none is lost: seed=" + seed);
    }
    assertNull(streams.open());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 1000, Stream.INDEX_MASK})
  void serverTakesAnyIndexUpToTheLimit(int max) {
    ServerStreams streams = new ServerStreams(max);
    assertEquals(max + 1, streams.length());
    int id = max | 1 << Stream.INDEX_BITS;
    assertNull(streams.get(max));
    assertFalse(streams.isClosed(id));
    ServerStream first = streams.open(1);
    ServerStream last = max == 1 ? first : streams.open(id);
    assertSame(first, streams.get(1));
    assertSame(last, streams.get(max));
    assertTrue(streams.isOpen(last));
    streams.close(last);
    assertNull(streams.get(max));
    assertFalse(streams.isOpen(last));
    assertTrue(streams.isClosed(last.id));
    assertFalse(streams.isClosed(last.id + (1 << Stream.INDEX_BITS)));
  }

  @Test
  void whatIsClosedIsKnownAfterTheTablesHaveGrown() {
    ServerStreams streams = new ServerStreams(5000);
    for (int index = 1; index <= 5000; index++) {
      ServerStream stream = streams.open(index);
      if (index % 2 == 0) {
        streams.close(stream);
      }
    }
    for (int index = 1; index <= 5000; index++) {
      assertEquals(index % 2 == 0, streams.isClosed(index), "index=" + index);
      assertEquals(index % 2 == 0, streams.get(index) == null, "index=" + index);
    }
  }

  @Test
  void serversTablesGrowWithTheHighestIndexAndNoFurtherThanTheLimit() {
    assertEquals(11, new ServerStreams(10).bound());
    ServerStreams streams = new ServerStreams(1000);
    int[][] boundsByIndex = {
      {5, 64}, {63, 64}, {64, 128}, {128, 256}, {7, 256}, {256, 512}, {512, 1001}
    };
    for (int[] expected : boundsByIndex) {
      streams.open(expected[0]);
      assertEquals(expected[1], streams.bound(), "index=" + expected[0]);
    }
    ServerStreams leaping = new ServerStreams(1000);
    leaping.open(300);
    assertEquals(301, leaping.bound());
  }
}
