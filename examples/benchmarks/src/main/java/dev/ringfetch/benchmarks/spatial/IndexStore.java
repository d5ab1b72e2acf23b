package dev.ringfetch.benchmarks.spatial;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectEntry;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectSearch;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.Neighbor;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import dev.ringfetch.rpc.RingChannel;
import io.grpc.Channel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.ExecutionException;

/**
 * A spatial index of a server, searched by stubs, or in its memory by a {@link DirectReader}.
 * Writes are calls in either case.
 */
final class IndexStore implements SpatialStore {
  private static final int BATCH = 1_000;
  private static final int BATCHES_IN_FLIGHT = 4;

  private final Channel channel;
  private final String index;
  private final IndexGrpc.IndexBlockingStub stub;
  private final long emptyBytes;
  private final DirectReader reader; // null: by calls
  private long undecided;

  private IndexStore(Channel channel, String index, DirectReader reader, long emptyBytes) {
    this.channel = channel;
    this.index = index;
    this.stub = IndexGrpc.newBlockingStub(channel);
    this.reader = reader;
    this.emptyBytes = emptyBytes;
  }

  /** Searches by calls; creates the index if there is none. */
  static IndexStore calls(Channel channel, Shape shape) {
    final long before = used(channel);
    final var unused =
        IndexAdminGrpc.newBlockingStub(channel)
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex(shape.name())
                    .setKind(IndexKind.SPATIAL)
                    .build());
    return new IndexStore(channel, shape.name(), null, before);
  }

  /**
   * Searches in memory an index that is there.
   *
   * @param shmDirectory where shared memory is, or null for the usual place.
   */
  static IndexStore direct(Channel channel, Shape shape, Path shmDirectory) {
    final DirectContext context = new DirectContext();
    if (shmDirectory != null) {
      context.shmDirectory(shmDirectory);
    }
    return new IndexStore(
        channel, shape.name(), DirectReader.open(channel, shape.name(), context), 0);
  }

  /** Of all indexes of the server. */
  private static long used(Channel channel) {
    return IndexGrpc.newBlockingStub(channel)
        .describe(DescribeRequest.getDefaultInstance())
        .getIndex()
        .getMemoryUsed();
  }

  @Override
  public long usedBytes() {
    return used(channel) - emptyBytes;
  }

  @Override
  public void load(Places places) {
    final IndexGrpc.IndexFutureStub futureStub = IndexGrpc.newFutureStub(channel);
    final ArrayDeque<ListenableFuture<BatchPutResponse>> inFlight = new ArrayDeque<>();
    int number = 0;
    while (number < places.count() || !inFlight.isEmpty()) {
      if (number < places.count() && inFlight.size() < BATCHES_IN_FLIGHT) {
        final BatchPutRequest.Builder request = BatchPutRequest.newBuilder().setIndex(index);
        final int end = Math.min(places.count(), number + BATCH);
        for (; number < end; number++) {
          request.addEntries(
              PutEntry.newBuilder()
                  .setKey(UnsafeByteOperations.unsafeWrap(Places.key(number)))
                  .setValue(value(number, places.area(number))));
        }
        inFlight.add(futureStub.batchPut(request.build()));
      } else {
        check(inFlight.remove());
      }
    }
  }

  private static void check(ListenableFuture<BatchPutResponse> batch) {
    try {
      batch
          .get()
          .getOutcomesList()
          .forEach(
              outcome -> {
                if (outcome.getVersion() == 0) {
                  throw new IllegalStateException("not written: " + outcome);
                }
              });
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted");
    }
  }

  private static ByteString value(int number, Area area) {
    final byte[] value = new byte[BoxDescriptor.LENGTH + Places.VALUE_LENGTH];
    BoxDescriptor.putBound(value, 0, 0, area.minX());
    BoxDescriptor.putBound(value, 0, 1, area.minY());
    BoxDescriptor.putBound(value, 0, 2, area.maxX());
    BoxDescriptor.putBound(value, 0, 3, area.maxY());
    Places.putValue(value, BoxDescriptor.LENGTH, number);
    return UnsafeByteOperations.unsafeWrap(value);
  }

  @Override
  public void search(Area area, Finds finds) {
    final SearchRequest request =
        SearchRequest.newBuilder()
            .setIndex(index)
            .setIntersects(
                Box.newBuilder()
                    .setMinX(area.minX())
                    .setMinY(area.minY())
                    .setMaxX(area.maxX())
                    .setMaxY(area.maxY()))
            .build();
    final DirectSearch search = new DirectSearch(request);
    if (reader != null) {
      if (reader.search(search, entry -> take(entry, finds)) != DirectLook.UNDECIDED) {
        return;
      }
      undecided++;
    }
    final ScanResponse page = stub.searchPage(search.request(index));
    take(search.answered(page), finds);
    if (page.getIncomplete()) {
      stub.search(search.request(index)).forEachRemaining(all -> take(search.answered(all), finds));
    }
  }

  private static boolean take(DirectEntry entry, Finds finds) {
    finds.take(Places.number(entry.array(), entry.keyOffset()));
    return true;
  }

  private static void take(ScanResponse page, Finds finds) {
    page.getEntriesList().forEach(entry -> take(entry, finds));
  }

  private static void take(Entry entry, Finds finds) {
    finds.take(Places.number(entry.getKey().toByteArray(), 0));
  }

  @Override
  public void nearest(double x, double y, int limit, double radius, Finds finds) {
    final NearestRequest request =
        NearestRequest.newBuilder()
            .setIndex(index)
            .setPoint(Point.newBuilder().setX(x).setY(y))
            .setLimit(limit)
            .build();
    NearestResponse found = reader == null ? null : reader.nearest(request);
    if (found == null) {
      undecided += reader == null ? 0 : 1;
      found = stub.nearest(request);
    }
    for (final Neighbor neighbor : found.getNeighborsList()) {
      take(neighbor.getEntry(), finds);
    }
  }

  @Override
  public void move(int number, Area area) {
    final var unused =
        stub.put(
            PutRequest.newBuilder()
                .setIndex(index)
                .setKey(UnsafeByteOperations.unsafeWrap(Places.key(number)))
                .setValue(value(number, area))
                .build());
  }

  @Override
  public String obstacle() {
    if (channel instanceof RingChannel ring && ring.grpcCalls() > 0) {
      return "calls that did not go over the ring: " + ring.grpcCalls();
    }
    return reader != null && !reader.isDirect() ? "no direct reads: " + reader.obstacle() : "";
  }

  /** Searches that memory did not decide, so that calls did. */
  long undecided() {
    return undecided;
  }

  @Override
  public void close() {
    if (reader != null) {
      reader.close();
    }
  }
}
