package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.SpatialDescriptor;
import dev.ringfetch.index.layout.SpatialNodeDescriptor;
import dev.ringfetch.index.store.StoreMemory;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutEntry;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls without a deadline for a spatial index whose memory was changed by another process. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class RefusedSpatialIndexTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 2);
  private static final String NAME = "bad";

  private final Indexes indexes = new Indexes();
  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;

  @BeforeEach
  void start() throws IOException {
    System.out.println("ringfetch.seed=" + SEED);
    server = LocalServer.start(indexes);
    index = IndexGrpc.newBlockingStub(server.channel());
    IndexAdminGrpc.newBlockingStub(server.channel())
        .createIndex(
            CreateIndexRequest.newBuilder().setIndex(NAME).setKind(IndexKind.SPATIAL).build());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void put(int entries) {
    final Random random = new Random(SEED);
    for (int i = 0; i < entries; ) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(NAME);
      for (final int end = Math.min(entries, i + 1000); i < end; i++) {
        final double x = random.nextDouble();
        final double y = random.nextDouble();
        batch.addEntries(
            PutEntry.newBuilder()
                .setKey(ByteString.copyFromUtf8("id " + i))
                .setValue(BoxDescriptor.bytes(x, y, x, y)));
      }
      index.batchPut(batch.build());
    }
  }

  private MemoryRegion region(long address) {
    final StoreMemory store = indexes.memory().store();
    return store.segment(address >>> store.segmentShift());
  }

  private int offset(long address) {
    return (int) (address & ((1L << indexes.memory().store().segmentShift()) - 1));
  }

  /** A leaf below a node of a tree. */
  private long leaf(long node) {
    final byte[] image = new byte[SpatialNodeDescriptor.COPY_LENGTH];
    region(node)
        .getBytes(offset(node), image, BlockDescriptor.COPY_OFFSET, SpatialNodeDescriptor.LENGTH);
    return SpatialNodeDescriptor.level(image) == 0
        ? node
        : leaf(SpatialNodeDescriptor.target(image, 0));
  }

  private static void isDamaged(Executable call) {
    final Status status = assertThrows(StatusRuntimeException.class, call).getStatus();
    assertEquals(Status.Code.DATA_LOSS, status.getCode(), status::toString);
    assertTrue(status.getDescription().contains("index=" + NAME), status::toString);
  }

  /**
   * Damage of one partition's tree ends calls that search all of them: also where a head names a
   * root that is nowhere, and where trees are so large that each step has an end before the search
   * has begun again often.
   */
  @ParameterizedTest
  @CsvSource({"400, 1, false", "400, 2, true", "400, 3, true", "20000, 2, false"})
  void damagedTreeOfAPartitionEndsTheIndex(int entries, int partition, boolean isHeadless) {
    put(entries);
    final CountRequest count =
        CountRequest.newBuilder()
            .setIndex(NAME)
            .setIntersects(Box.newBuilder().setMaxX(1).setMaxY(1))
            .build();
    assertEquals(entries, index.count(count).getEntries());
    final ServedIndex served = indexes.find(NAME);
    final long head =
        served.hash().location().root() + SpatialDescriptor.head(partition, served.partitions());
    final long root = head + SpatialDescriptor.ROOT_OFFSET;
    final long leaf = leaf(region(root).getLong(offset(root)));
    region(leaf).putLong(offset(leaf), 0);
    if (isHeadless) {
      region(root).putLong(offset(root), 1L << 49);
    }
    isDamaged(() -> index.count(count));
    isDamaged(
        () ->
            index.nearest(
                NearestRequest.newBuilder()
                    .setIndex(NAME)
                    .setPoint(Point.newBuilder())
                    .setLimit(1)
                    .build()));
  }
}
