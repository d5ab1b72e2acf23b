package dev.ringfetch.rdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.SearchRequest;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.system.Await;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Direct reads over a device, of a server in this JVM. */
@Tag("verbs")
final class DirectReadTest {
  private static final int WAIT_S = 30;
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString ONE = ByteString.copyFromUtf8("one");
  private static final ByteString TWO = ByteString.copyFromUtf8("two");

  private final DirectValue found = new DirectValue();

  @TempDir Path directory;

  private Indexes indexes;
  private RingServer server;
  private ManagedChannel channel;

  @BeforeEach
  void device() {
    RdmaAssumptions.assumeDevice();
  }

  /** Starts a server whose memory is in domains of some fabrics. */
  private void start(String... fabrics) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.shared(
                new IndexMemoryContext()
                    .fabrics(fabrics)
                    .shmDirectory(directory)
                    .budget(IndexMemoryContext.BUDGET_MIN)
                    .partitions(1)));
    final RingServerBuilder builder =
        IndexServer.addServices(
            RingServerBuilder.forPort(0).fabrics("shm").shmDirectory(directory),
            indexes,
            new HealthStatusManager());
    DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.UNLESS_INTERCEPTED);
    server = builder.build().start();
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (channel != null) {
      channel.shutdownNow();
    }
    if (server != null) {
      server.shutdownNow();
      server.awaitTermination(WAIT_S, TimeUnit.SECONDS);
    }
    if (indexes != null) {
      indexes.close();
    }
  }

  private DirectReader openReader() {
    return openReader("");
  }

  private DirectReader openReader(String name) {
    final DirectReader reader =
        DirectReader.open(channel, name, new DirectContext().fabrics("verbs"));
    assertTrue(reader.isDirect(), reader::obstacle);
    return reader;
  }

  private IndexGrpc.IndexBlockingStub index() {
    return IndexGrpc.newBlockingStub(channel).withDeadlineAfter(WAIT_S, TimeUnit.SECONDS);
  }

  private long put(ByteString key, ByteString value) {
    return index().put(PutRequest.newBuilder().setKey(key).setValue(value).build()).getVersion();
  }

  private static ByteString number(int i) {
    return ByteString.copyFromUtf8("key " + i);
  }

  @Test
  void readsWhatIsStoredAndAsksAboutTheRest() throws Exception {
    start("verbs");
    try (DirectReader reader = openReader()) {
      final long version = put(KEY, ONE);
      assertTrue(reader.get(KEY, found));
      assertEquals(ONE, found.value());
      assertEquals(version, found.version());
      put(KEY, TWO);
      assertTrue(reader.get(KEY, found));
      assertEquals(TWO, found.value());
      final ByteString longest = ByteString.copyFrom(new byte[1 << 20]);
      put(KEY, longest);
      assertTrue(reader.get(KEY, found));
      assertEquals(longest, found.value());
      assertEquals(0, reader.callReads());

      // READs are not ordered among each other: the server says that a key is absent.
      index().delete(DeleteRequest.newBuilder().setKey(KEY).build());
      assertFalse(reader.get(KEY, found));
      assertEquals(1, reader.callReads());
      assertEquals(1, reader.retries());
      assertEquals(3, reader.directReads());
      assertTrue(reader.isDirect());
    }
  }

  @Test
  void batchIsReadTogether() throws Exception {
    start("verbs");
    final int count = 1000;
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder();
    final List<ByteString> keys = new ArrayList<>();
    final DirectValue[] values = new DirectValue[count];
    for (int i = 0; i < count; i++) {
      keys.add(number(i));
      values[i] = new DirectValue();
      if (i < count - 1) { // not the last one
        batch.addEntries(
            PutEntry.newBuilder()
                .setKey(number(i))
                .setValue(ByteString.copyFromUtf8("value " + i)));
      }
    }
    assertEquals(count - 1, index().batchPut(batch.build()).getOutcomesCount());
    try (DirectReader reader = openReader()) {
      final boolean[] present = new boolean[count];
      reader.batchGet(keys, values, present);
      for (int i = 0; i < count - 1; i++) {
        assertTrue(present[i]);
        assertEquals(ByteString.copyFromUtf8("value " + i), values[i].value());
      }
      assertFalse(present[count - 1]);
      assertEquals(1, reader.callReads());
      assertEquals(count - 1, reader.directReads());
    }
  }

  /**
   * A key that was never read takes two round trips, of one completion each: the gate, the index's
   * open word and two buckets; then gate, open word and block. Another block of the same
   * fingerprint is read along with it.
   */
  @Test
  void unknownKeyTakesTwoRoundTrips() throws Exception {
    start("verbs");
    final int count = 5;
    for (int i = 0; i < count; i++) {
      put(number(i), ONE);
    }
    try (DirectReader reader = openReader()) {
      assertTrue(reader.get(number(0), found)); // learns where the tables are
      long fewest = Long.MAX_VALUE;
      for (int i = 1; i < count; i++) {
        final WorkRequestCounts before = WorkRequestCounts.ofDomains();
        assertTrue(reader.get(number(i), found));
        final WorkRequestCounts counts = WorkRequestCounts.ofDomains().minus(before);
        assertEquals(2, counts.signaled(), counts::toString);
        final long reads = counts.reads();
        assertEquals(
            new WorkRequestCounts(0, reads, 0, 0, 0, 0, 0, 2), counts, "nothing but READs");
        fewest = Math.min(fewest, reads);
      }
      assertEquals(7, fewest);
      assertEquals(0, reader.callReads());
    }
  }

  /**
   * A search of one partition takes a round trip for its head, for each of three levels, for the
   * blocks, and for the moves; the first one of a reader takes another, for the serving word.
   */
  @Test
  void searchesOfASpatialIndexMakeNoCalls() throws Exception {
    start("verbs");
    final CreateIndexResponse created =
        IndexAdminGrpc.newBlockingStub(channel)
            .withDeadlineAfter(WAIT_S, TimeUnit.SECONDS)
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex("places")
                    .setKind(IndexKind.SPATIAL)
                    .build());
    assertTrue(created.getCreated());
    final int count = 1000;
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("places");
    for (int i = 0; i < count; i++) { // points on a line
      final ByteBuffer box = ByteBuffer.allocate(4 * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      box.putDouble(i).putDouble(0).putDouble(i).putDouble(0).flip();
      batch.addEntries(PutEntry.newBuilder().setKey(number(i)).setValue(ByteString.copyFrom(box)));
    }
    assertEquals(count, index().batchPut(batch.build()).getOutcomesCount());
    try (DirectReader reader = openReader("places")) {
      assertEquals(count, search(reader, -1, count).size());
      final WorkRequestCounts before = WorkRequestCounts.ofDomains();
      final Set<ByteString> some = search(reader, 100, 109.5);
      final WorkRequestCounts counts = WorkRequestCounts.ofDomains().minus(before);
      assertEquals(10, some.size());
      assertTrue(some.contains(number(100)) && some.contains(number(109)));
      assertEquals(6, counts.signaled(), counts::toString);
      assertEquals(
          new WorkRequestCounts(0, counts.reads(), 0, 0, 0, 0, 0, 6), counts, "nothing but READs");
      final NearestResponse nearest =
          reader.nearest(
              NearestRequest.newBuilder()
                  .setPoint(Point.newBuilder().setX(500.25).setY(0))
                  .setLimit(3)
                  .build());
      assertEquals(
          List.of(number(500), number(501), number(499)),
          nearest.getNeighborsList().stream().map(near -> near.getEntry().getKey()).toList());
      assertTrue(reader.get(number(7), found));
      assertEquals(0, reader.callReads());
      assertTrue(reader.isDirect());
    }
  }

  /** The ids of the entries between two places. */
  private static Set<ByteString> search(DirectReader reader, double from, double to) {
    final SearchRequest.Builder request = SearchRequest.newBuilder();
    request.getIntersectsBuilder().setMinX(from).setMaxX(to);
    final Set<ByteString> ids = new HashSet<>();
    assertEquals(
        DirectLook.ABSENT,
        reader.search(new DirectSearch(request.build()), entry -> ids.add(entry.key())));
    return ids;
  }

  @Test
  void dropTurnsReadersAway() throws Exception {
    start("verbs");
    put(KEY, ONE);
    try (DirectReader reader = openReader()) {
      assertTrue(reader.get(KEY, found));
      final var unused =
          IndexAdminGrpc.newBlockingStub(channel)
              .withDeadlineAfter(WAIT_S, TimeUnit.SECONDS)
              .dropIndex(DropIndexRequest.newBuilder().setIndex("default").build());
      assertFalse(reader.get(KEY, found));
      assertFalse(reader.isDirect());
      assertEquals("memory is closed", reader.obstacle());
      assertEquals(1, reader.turns());
      assertEquals(1, reader.directReads());
    }
  }

  /** The connection's end ends its grants: the queue pair goes, with the READs on it. */
  @Test
  void endOfTheConnectionRevokes() throws Exception {
    start("verbs");
    put(KEY, ONE);
    try (DirectReader reader = openReader()) {
      assertTrue(reader.get(KEY, found));
      channel.shutdownNow();
      Await.until(
          "the revocation",
          WAIT_S,
          () -> {
            try {
              reader.get(KEY, found);
              return false;
            } catch (StatusRuntimeException e) {
              assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
              return true;
            }
          });
      assertFalse(reader.isDirect());
      assertEquals(1, reader.turns());
    }
  }

  @Test
  void memoryOfOneFabricIsShownOverAnother() throws Exception {
    start("shm", "verbs");
    try (DirectReader far = openReader();
        DirectReader near =
            DirectReader.open(channel, "", new DirectContext().shmDirectory(directory))) {
      assertTrue(near.isDirect(), near::obstacle);
      final long before = WorkRequestCounts.ofDomains().reads();
      for (int i = 0; i < 10; i++) {
        put(number(i), number(i));
        assertTrue(near.get(number(i), found));
        assertEquals(number(i), found.value());
      }
      assertEquals(before, WorkRequestCounts.ofDomains().reads(), "shm comes first");
      for (int i = 0; i < 10; i++) {
        assertTrue(far.get(number(i), found));
        assertEquals(number(i), found.value());
      }
      assertEquals(0, near.callReads() + far.callReads());
    }
  }

  @Test
  void readerWithoutTheFabricIsRefusedInWords() throws Exception {
    start("verbs");
    try (DirectReader reader =
        DirectReader.open(
            channel, "", new DirectContext().shmDirectory(directory).fabrics("shm"))) {
      assertFalse(reader.isDirect());
      assertTrue(reader.obstacle().contains("verbs"), reader::obstacle);
    }
  }
}
