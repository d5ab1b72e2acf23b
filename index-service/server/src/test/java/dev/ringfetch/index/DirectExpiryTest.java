package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.SearchRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deadlines of a real server, by its clock: calls and direct reads agree on what has ended. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class DirectExpiryTest {
  private static final String INDEX = "expiring";
  private static final int ROUNDS = 15;

  /** The begin of each value, which a spatial index needs. */
  private static final ByteString BOX = BoxDescriptor.bytes(1, 1, 2, 2);

  /** By when an entry is absent: a tick, and some time for the thread that makes it. */
  private static final long LAG_MS = 20;

  @TempDir Path directory;

  private DirectServer server;

  @BeforeEach
  void start() throws Exception {
    server = DirectServer.start(directory);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private void put(int number, long ttlMs) {
    final var unused =
        server
            .index()
            .put(
                PutRequest.newBuilder()
                    .setIndex(INDEX)
                    .setKey(key(number))
                    .setValue(BOX.concat(key(number)))
                    .setTtlMs(ttlMs)
                    .build());
  }

  private boolean isThereByCall(int number) {
    return server
        .index()
        .get(GetRequest.newBuilder().setIndex(INDEX).setKey(key(number)).build())
        .hasEntry();
  }

  private static boolean isFound(DirectReader reader, int number) {
    final boolean[] seen = {false};
    final SearchRequest.Builder request = SearchRequest.newBuilder();
    request.getContainsBuilder().setX(1).setY(2);
    final DirectSearch search = new DirectSearch(request.build());
    final DirectLook look =
        reader.search(
            search,
            entry -> {
              seen[0] |= entry.key().equals(key(number));
              return true;
            });
    assertEquals(DirectLook.ABSENT, look);
    return seen[0];
  }

  private static boolean isScanned(DirectReader reader, int number) {
    final boolean[] seen = {false};
    final boolean more =
        reader.scan(
            new DirectScan(ScanRequest.getDefaultInstance()),
            entry -> {
              seen[0] |= entry.key().equals(key(number));
              return true;
            });
    assertFalse(more);
    return seen[0];
  }

  @ParameterizedTest
  @EnumSource(
      value = IndexKind.class,
      names = {"HASH", "ORDERED", "SPATIAL"})
  void entryEndsByAllWaysAtOnce(IndexKind kind) throws Exception {
    final BiPredicate<DirectReader, Integer> manyWay =
        kind == IndexKind.ORDERED ? DirectExpiryTest::isScanned : DirectExpiryTest::isFound;
    final boolean hasManyWay = kind != IndexKind.HASH;
    final var created =
        server
            .admin()
            .createIndex(CreateIndexRequest.newBuilder().setIndex(INDEX).setKind(kind).build());
    assertTrue(created.getCreated());
    put(1_000, 0);
    final List<Long> lags = new ArrayList<>();
    try (DirectReader reader = server.openReader(INDEX)) {
      final DirectValue value = new DirectValue();
      for (int round = 0; round < ROUNDS; round++) {
        long ttlMs = 60L + round % 7;
        put(round, ttlMs);
        while (!reader.get(key(round), value)) { // the machine stood still for so long
          ttlMs *= 2;
          put(round, ttlMs);
        }
        final long deadline = value.deadline();
        final long left = deadline - System.currentTimeMillis();
        assertTrue(left <= ttlMs, "left=" + left);
        final int way = round % (hasManyWay ? 3 : 2); // the one that looks first
        boolean present;
        do {
          present =
              switch (way) {
                case 0 -> reader.get(key(round), value);
                case 1 -> isThereByCall(round);
                default -> manyWay.test(reader, round);
              };
        } while (present);
        final long absentMs = System.currentTimeMillis();
        assertTrue(absentMs >= deadline, "too early: " + (deadline - absentMs) + " ms");
        lags.add(absentMs - deadline);
        assertFalse(reader.get(key(round), value), "absent by way " + way + ", and there again");
        assertFalse(isThereByCall(round), "absent by way " + way + ", and there again");
        assertFalse(hasManyWay && manyWay.test(reader, round));
      }
      assertTrue(reader.get(key(1_000), value));
      assertEquals(0, value.deadline());
      assertTrue(reader.isDirect());
      assertEquals(0, reader.callReads());
    }
    final long[] sorted = lags.stream().mapToLong(Long::longValue).sorted().toArray();
    System.out.println(kind + " lags in ms: " + Arrays.toString(sorted));
    // Not of all: other processes may keep the thread from the processor.
    assertTrue(sorted[ROUNDS / 4] <= LAG_MS, () -> "lags=" + Arrays.toString(sorted));
    while (server.index().count(CountRequest.newBuilder().setIndex(INDEX).build()).getEntries()
        > 1) {
      Thread.sleep(1); // the test's timeout ends it
    }
  }
}
