package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.Neighbor;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RemoveEntry;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.TransactOperation;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The answers of the service for spatial indexes, over a channel, and after a start. */
@Timeout(60)
class SpatialServiceTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 40);
  private static final String NAME = "places";
  private static final double[] ALL = {-1e30, -1e30, 1e30, 1e30};

  @TempDir Path data;

  private Indexes indexes;
  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  @BeforeEach
  void start() throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(64L << 20)
                    .dataDirectory(data)
                    .durability(Durability.DISK)));
    server = LocalServer.start(indexes);
    index = IndexGrpc.newBlockingStub(server.channel());
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
    admin.createIndex(
        CreateIndexRequest.newBuilder().setIndex(NAME).setKind(IndexKind.SPATIAL).build());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static ByteString id(int number) {
    return ByteString.copyFromUtf8("id " + number);
  }

  private static ByteString value(double[] box, String text) {
    return BoxDescriptor.bytes(box[0], box[1], box[2], box[3])
        .concat(ByteString.copyFromUtf8(text));
  }

  private static Box box(double... box) {
    return Box.newBuilder().setMinX(box[0]).setMinY(box[1]).setMaxX(box[2]).setMaxY(box[3]).build();
  }

  private static PutRequest.Builder put(int number, double... box) {
    return PutRequest.newBuilder()
        .setIndex(NAME)
        .setKey(id(number))
        .setValue(value(box, "value " + number));
  }

  private static SearchRequest.Builder intersects(double... box) {
    return SearchRequest.newBuilder().setIndex(NAME).setIntersects(box(box));
  }

  /** The versions of the entries that a search finds. */
  private Map<String, Long> search(SearchRequest.Builder request) {
    final Map<String, Long> found = new TreeMap<>();
    index
        .search(request.build())
        .forEachRemaining(
            page -> {
              assertTrue(page.getNextPageToken().isEmpty());
              for (final Entry entry : page.getEntriesList()) {
                assertEquals(null, found.put(entry.getKey().toStringUtf8(), entry.getVersion()));
              }
            });
    return found;
  }

  private static void refused(Status.Code code, Executable call) {
    assertEquals(code, assertThrows(StatusRuntimeException.class, call).getStatus().getCode());
  }

  @Test
  void noWriteGetsPastTheCheckOfItsBox() {
    final ByteString wrong = value(new double[] {1, 0, 0, 0}, "x");
    final ByteString id = id(1);
    refused(Status.Code.INVALID_ARGUMENT, () -> index.put(put(1, 0, 0, 0, Double.NaN).build()));
    refused(
        Status.Code.INVALID_ARGUMENT,
        () ->
            index.compareAndSet(
                CompareAndSetRequest.newBuilder()
                    .setIndex(NAME)
                    .setKey(id)
                    .setValue(wrong)
                    .build()));
    refused(
        Status.Code.INVALID_ARGUMENT,
        () -> {
          final UpdateRequest.Builder update = UpdateRequest.newBuilder().setIndex(NAME).setKey(id);
          update.getGetAndSetBuilder().setValue(wrong);
          index.update(update.build());
        });
    refused(
        Status.Code.INVALID_ARGUMENT,
        () -> {
          final UpdateRequest.Builder update = UpdateRequest.newBuilder().setIndex(NAME).setKey(id);
          update.getIncrementBuilder().setDelta(1);
          index.update(update.build());
        });
    refused(
        Status.Code.INVALID_ARGUMENT,
        () -> {
          final TransactRequest.Builder transact = TransactRequest.newBuilder().setIndex(NAME);
          transact.addThenBuilder().setKey(id).getPutBuilder().setValue(wrong);
          index.transact(transact.build());
        });
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(NAME);
    batch.addEntriesBuilder().setKey(id).setValue(wrong);
    batch.addEntriesBuilder().setKey(id(2)).setValue(value(new double[] {0, 0, 1, 1}, ""));
    final var outcomes = index.batchPut(batch.build()).getOutcomesList();
    assertEquals(Status.Code.INVALID_ARGUMENT.value(), outcomes.get(0).getCode());
    assertEquals(0, outcomes.get(1).getCode());
    assertEquals(List.of("id 2"), List.copyOf(search(intersects(ALL)).keySet()));
  }

  @Test
  void requestsThatMakeNoSenseAreRefused() {
    final Status.Code invalid = Status.Code.INVALID_ARGUMENT;
    refused(invalid, () -> search(SearchRequest.newBuilder().setIndex(NAME)));
    refused(invalid, () -> search(intersects(0, 0, -1, 0)));
    refused(invalid, () -> search(intersects(0, 0, Double.POSITIVE_INFINITY, 0)));
    final NearestRequest.Builder nearest = NearestRequest.newBuilder().setIndex(NAME);
    refused(invalid, () -> index.nearest(nearest.build()));
    refused(invalid, () -> index.nearest(nearest.clone().setLimit(1001).build()));
    nearest.setLimit(1);
    refused(invalid, () -> index.nearest(nearest.clone().setGreatestDistance(-1).build()));
    refused(invalid, () -> index.nearest(nearest.clone().setWeightX(-1).build()));
    refused(
        invalid,
        () -> index.nearest(nearest.clone().setPoint(Point.newBuilder().setX(Double.NaN)).build()));
    final CountRequest.Builder count =
        CountRequest.newBuilder().setIndex(NAME).setIntersects(box(ALL));
    refused(
        invalid,
        () -> index.count(count.clone().setRange(KeyRange.newBuilder().setPrefix(id(1))).build()));
    final Status.Code otherKind = Status.Code.FAILED_PRECONDITION;
    refused(otherKind, () -> search(intersects(ALL).setIndex("default")));
    refused(otherKind, () -> index.nearest(nearest.setIndex("default").build()));
    refused(otherKind, () -> index.count(count.clone().setIndex("default").build()));
    assertEquals(Map.of(), search(intersects(ALL).setIndex("absent")));
    assertEquals(0, index.count(count.setIndex("absent").build()).getEntries());
    assertEquals(0, index.nearest(nearest.setIndex("absent").build()).getNeighborsCount());
  }

  @Test
  void fewerPartitionsThanOfAHashIndexUnlessSet() {
    final DescribeRequest request = DescribeRequest.newBuilder().setIndex(NAME).build();
    assertEquals(
        IndexMemoryContext.SPATIAL_PARTITIONS_DEFAULT,
        index.describe(request).getIndex().getPartitions());
  }

  private void checkPage(int entries, boolean isIncomplete, SearchRequest.Builder request) {
    final ScanResponse page = index.searchPage(request.build());
    assertEquals(entries, Set.copyOf(page.getEntriesList()).size());
    assertEquals(isIncomplete, page.getIncomplete());
  }

  @Test
  void answersComeInPagesUpToTheLimit() {
    final int entries = 5000;
    for (int i = 0; i < entries; i += 1000) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(NAME);
      for (int j = i; j < i + 1000; j++) {
        batch.addEntriesBuilder().setKey(id(j)).setValue(value(new double[] {j, 0, j, 0}, "value"));
      }
      index.batchPut(batch.build());
    }
    assertEquals(entries, search(intersects(ALL)).size());
    assertEquals(1234, search(intersects(ALL).setLimit(1234)).size());
    assertEquals(101, search(intersects(100, 0, 200, 0)).size());
    index
        .search(intersects(7, 0, 7, 0).setKeysOnly(true).build())
        .forEachRemaining(page -> assertTrue(page.getEntries(0).getValue().isEmpty()));
    checkPage(4000, true, intersects(ALL));
    checkPage(3999, false, intersects(ALL).setLimit(3999));
    checkPage(101, false, intersects(100, 0, 200, 0));
    checkPage(0, false, intersects(-9, 0, -1, 0));
    checkPage(0, false, intersects(ALL).setIndex("absent"));
    assertEquals(
        101,
        index
            .count(
                CountRequest.newBuilder()
                    .setIndex(NAME)
                    .setIntersects(box(100, -1, 200, 1))
                    .build())
            .getEntries());
    final List<Double> distances = new ArrayList<>();
    for (final Neighbor neighbor :
        index
            .nearest(
                NearestRequest.newBuilder()
                    .setIndex(NAME)
                    .setPoint(Point.newBuilder().setX(-10).setY(3))
                    .setWeightY(0.5)
                    .setLimit(3)
                    .build())
            .getNeighborsList()) {
      distances.add(neighbor.getDistance());
    }
    assertEquals(List.of(Math.hypot(10, 1.5), Math.hypot(11, 1.5), Math.hypot(12, 1.5)), distances);
  }

  /** Long values farther away are met first, as the search begins with the entries of one leaf. */
  @Test
  void theAnswerOfTheNearestIsAsLongAsThey() {
    final NearestRequest.Builder nearest =
        NearestRequest.newBuilder().setIndex(NAME).setPoint(Point.newBuilder()).setLimit(8);
    for (int i = 8; i > 0; i--) {
      final String text = "-".repeat(1_000_000);
      index.put(put(i, i, i, i, i).setValue(value(new double[] {i, i, i, i}, text)).build());
    }
    refused(Status.Code.RESOURCE_EXHAUSTED, () -> index.nearest(nearest.build()));
    assertEquals(4, index.nearest(nearest.clone().setLimit(4).build()).getNeighborsCount());
    for (int i = 10; i < 17; i++) {
      index.put(put(i, 0, 0, 0.01 * i, 0).build());
    }
    assertEquals(8, index.nearest(nearest.build()).getNeighborsCount());
    assertEquals(11, index.nearest(nearest.clone().setLimit(11).build()).getNeighborsCount());
    refused(
        Status.Code.RESOURCE_EXHAUSTED, () -> index.nearest(nearest.clone().setLimit(12).build()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theNextServerFindsTheSame(boolean fromSnapshot) throws Exception {
    final Random random = new Random(SEED);
    for (int i = 0; i < 2000; i++) {
      final int number = random.nextInt(300);
      if (random.nextInt(4) == 0) {
        index.delete(DeleteRequest.newBuilder().setIndex(NAME).setKey(id(number)).build());
      } else {
        final double x = random.nextDouble() * 100;
        final double y = random.nextDouble() * 100;
        index.put(put(number, x, y, x + 1, y + 1).build());
      }
      if (i == 1500 && fromSnapshot) {
        admin.snapshot(SnapshotRequest.getDefaultInstance());
      }
    }
    final Map<String, Long> all = search(intersects(ALL));
    final Map<String, Long> some = search(intersects(20, 20, 50, 50));
    assertTrue(all.size() > some.size() && some.size() > 5, "seed=" + SEED);
    stop();
    start();
    assertEquals(all, search(intersects(ALL)));
    assertEquals(some, search(intersects(20, 20, 50, 50)));
    for (int i = 0; i < 300; i++) {
      index.put(put(i, 1000, 1000, 1000, 1000).build());
    }
    assertEquals(300, search(intersects(1000, 1000, 1000, 1000)).size());
    assertEquals(Map.of(), search(intersects(0, 0, 101, 101)));
  }

  /** What a change means for a box, and what it wrote. */
  private record Crossed(WatchEvent.Crossing crossing, WatchEvent.Kind kind, String value) {}

  /** The changes in a box, by id, of a watch that takes so many of them. */
  private static Map<ByteString, List<Crossed>> crossed(WatchStream watch, int count) {
    final Map<ByteString, List<Crossed>> crossed = new HashMap<>();
    for (final WatchEvent event : watch.events(count)) {
      crossed
          .computeIfAbsent(event.getKey(), unused -> new ArrayList<>())
          .add(new Crossed(event.getCrossing(), event.getKind(), text(event.getValue())));
    }
    return crossed;
  }

  private static String text(ByteString value) {
    return value.isEmpty() ? "" : value.substring(BoxDescriptor.LENGTH).toStringUtf8();
  }

  private WatchStream watch(ByteString token, double... box) {
    return new WatchStream(
        server.channel(),
        WatchRequest.newBuilder().setIndex(NAME).setToken(token).setIntersects(box(box)).build());
  }

  /** A write of each kind at random; returns whether it changed anything. */
  private boolean writeRandomly(Random random, ByteString id, ByteString value) {
    final TransactRequest.Builder transaction = TransactRequest.newBuilder().setIndex(NAME);
    final TransactOperation.Builder operation = transaction.addThenBuilder().setKey(id);
    return switch (random.nextInt(6)) {
      case 0 ->
          index.delete(DeleteRequest.newBuilder().setIndex(NAME).setKey(id).build()).getExisted();
      case 1 ->
          index
              .compareAndSet(
                  CompareAndSetRequest.newBuilder()
                      .setIndex(NAME)
                      .setKey(id)
                      .setValue(value)
                      .build())
              .getApplied();
      case 2 -> {
        operation.getPutBuilder().setValue(value);
        yield index.transact(transaction.build()).getVersion() != 0;
      }
      case 3 -> {
        operation.setDelete(RemoveEntry.getDefaultInstance());
        yield index.transact(transaction.build()).getVersion() != 0;
      }
      default ->
          index
                  .put(PutRequest.newBuilder().setIndex(NAME).setKey(id).setValue(value).build())
                  .getVersion()
              != 0;
    };
  }

  @Test
  void aWatchOfABoxTellsTheSameLiveAndOutOfTheJournal() throws Exception {
    System.out.println("SpatialServiceTest seed=" + SEED);
    final Random random = new Random(SEED);
    final double[] watched = {3, 3, 6, 6};
    WatchStream watch = watch(ByteString.EMPTY, watched);
    final ByteString begin = watch.next().getToken();
    final Map<ByteString, double[]> boxes = new HashMap<>();
    final Map<ByteString, List<Crossed>> expected = new HashMap<>();
    int count = 0;
    for (int i = 0; i < 800; i++) {
      final ByteString id = id(random.nextInt(12));
      final double x = random.nextInt(9);
      final double y = random.nextInt(9);
      final double[] box = {x, y, x + random.nextInt(2), y + random.nextInt(2)};
      if (!writeRandomly(random, id, value(box, "v" + i))) {
        continue;
      }
      final double[] before = boxes.get(id);
      final boolean isThere =
          index.get(GetRequest.newBuilder().setIndex(NAME).setKey(id).build()).hasEntry();
      final boolean wasIn = before != null && intersect(before, watched);
      if (isThere) {
        boxes.put(id, box);
      } else {
        boxes.remove(id);
      }
      final boolean isIn = isThere && intersect(box, watched);
      if (wasIn || isIn) {
        expected
            .computeIfAbsent(id, unused -> new ArrayList<>())
            .add(
                new Crossed(
                    wasIn && isIn
                        ? WatchEvent.Crossing.MOVE
                        : isIn ? WatchEvent.Crossing.ENTER : WatchEvent.Crossing.LEAVE,
                    isThere ? WatchEvent.Kind.PUT : WatchEvent.Kind.DELETE,
                    isThere ? "v" + i : ""));
        count++;
      }
    }
    assertTrue(count > 150, "count=" + count);
    assertEquals(expected, crossed(watch, count));
    watch.cancel();
    stop();
    start();
    watch = watch(begin, watched);
    assertEquals(expected, crossed(watch, count), "out of the journal");
    watch.cancel();
  }

  private static boolean intersect(double[] one, double[] other) {
    return one[0] <= other[2] && one[2] >= other[0] && one[1] <= other[3] && one[3] >= other[1];
  }

  @Test
  void anEntryLeavesAWatchedBoxAtItsDeadline() throws Exception {
    WatchStream watch = watch(ByteString.EMPTY, 0, 0, 1, 1);
    final ByteString begin = watch.next().getToken();
    index.put(put(1, 0, 0, 0, 0).setTtlMs(200).build());
    index.put(put(2, 5, 5, 5, 5).setTtlMs(200).build());
    index.put(put(3, 1, 1, 2, 2).build());
    final List<WatchEvent.Crossing> crossings =
        List.of(WatchEvent.Crossing.ENTER, WatchEvent.Crossing.ENTER, WatchEvent.Crossing.LEAVE);
    final List<WatchEvent> live = watch.events(3);
    assertEquals(crossings, live.stream().map(WatchEvent::getCrossing).sorted().toList());
    final WatchEvent last =
        live.stream()
            .filter(event -> event.getKind() == WatchEvent.Kind.EXPIRE)
            .findFirst()
            .orElseThrow();
    assertEquals(WatchEvent.Crossing.LEAVE, last.getCrossing());
    assertEquals(id(1), last.getKey());
    watch.cancel();
    stop();
    start();
    watch = watch(begin, 0, 0, 1, 1);
    final List<WatchEvent> again = watch.events(3);
    assertEquals(crossings, again.stream().map(WatchEvent::getCrossing).sorted().toList());
    assertTrue(again.contains(last), again::toString);
    watch.cancel();
  }

  @Test
  void aWatchOfABoxNeedsASpatialIndexAndNoRange() {
    index.put(put(1, 0, 0, 0, 0).setIndex("ordered").build());
    final WatchRequest request =
        WatchRequest.newBuilder().setIndex("ordered").setIntersects(box(0, 0, 1, 1)).build();
    assertEquals(
        Status.Code.FAILED_PRECONDITION,
        new WatchStream(server.channel(), request).end().getCode());
    assertEquals(
        Status.Code.INVALID_ARGUMENT,
        new WatchStream(
                server.channel(),
                request.toBuilder()
                    .setIndex(NAME)
                    .setRange(KeyRange.newBuilder().setStart(id(1)))
                    .build())
            .end()
            .getCode());
    assertEquals(Status.Code.INVALID_ARGUMENT, watch(ByteString.EMPTY, 1, 0, 0, 1).end().getCode());
  }

  @Test
  void aWriteThatComesAgainMovesNothing() {
    final long client =
        index.openClient(OpenClientRequest.newBuilder().setIndex(NAME).build()).getClient();
    final RequestNumber number =
        RequestNumber.newBuilder().setClient(client).setNumber(1).setFirstIncomplete(1).build();
    final PutRequest first = put(1, 1, 1, 1, 1).setNumber(number).build();
    final long version = index.put(first).getVersion();
    final long later = index.put(put(1, 5, 5, 5, 5).build()).getVersion();
    assertEquals(version, index.put(first).getVersion());
    assertEquals(Map.of(), search(intersects(1, 1, 1, 1)));
    assertEquals(Map.of("id 1", later), search(intersects(5, 5, 5, 5)));
  }

  @Test
  void anEntryWithATimeToLiveLeaves() throws InterruptedException {
    index.put(put(1, 1, 1, 1, 1).setTtlMs(3_000).build());
    index.put(put(2, 1, 1, 1, 1).build());
    assertEquals(2, search(intersects(ALL)).size());
    while (search(intersects(ALL)).size() == 2) {
      Thread.sleep(5);
    }
    assertEquals(List.of("id 2"), List.copyOf(search(intersects(ALL)).keySet()));
    assertFalse(index.get(GetRequest.newBuilder().setIndex(NAME).setKey(id(1)).build()).hasEntry());
  }
}
