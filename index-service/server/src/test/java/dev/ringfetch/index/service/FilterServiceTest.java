package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.BoxDescriptor;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.Comparison.Relation;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FieldComparison;
import dev.ringfetch.index.v1.Filter;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Filters of scans, searches and counts, and sums of fields. */
@Timeout(60)
class FilterServiceTest {
  private static final int ENTRIES = 3_000;
  private static final int BATCH = 10_000;
  private static final int BOX = BoxDescriptor.LENGTH;

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start(64L << 20);
    index = IndexGrpc.newBlockingStub(server.channel());
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** Creates an index whose entry number n has the value n, a counter; behind a box if spatial. */
  private void create(IndexKind kind, int entries) {
    create(kind, entries, 0);
  }

  /** The same with more bytes in each value. */
  private void create(IndexKind kind, int entries, int more) {
    admin.createIndex(CreateIndexRequest.newBuilder().setIndex("i").setKind(kind).build());
    final ByteString rest = ByteString.copyFrom(new byte[more]);
    final int batchLength = more == 0 ? BATCH : 500;
    for (int i = 0; i < entries; i += batchLength) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("i");
      for (int n = i; n < Math.min(entries, i + batchLength); n++) {
        final ByteString value = CounterDescriptor.value((long) n).concat(rest);
        batch.addEntries(
            PutEntry.newBuilder()
                .setKey(key(n))
                .setValue(
                    kind == IndexKind.SPATIAL
                        ? BoxDescriptor.bytes(n, 0, n, 0).concat(value)
                        : value));
      }
      index.batchPut(batch.build());
    }
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(String.format("%08d", number));
  }

  private static Field number(int offset) {
    return Field.newBuilder()
        .setOffset(offset)
        .setLength(Long.BYTES)
        .setEncoding(Field.Encoding.ORDERED)
        .build();
  }

  @Test
  void theNearestOfAFilterMayBeFar() {
    create(IndexKind.SPATIAL, ENTRIES);
    final NearestRequest.Builder nearest =
        NearestRequest.newBuilder().setIndex("i").setPoint(Point.getDefaultInstance()).setLimit(2);
    final NearestRequest far = nearest.setFilter(atLeast(BOX, ENTRIES - 5)).build();
    assertEquals(
        keys(ENTRIES - 5, ENTRIES - 3),
        index.nearest(far).getNeighborsList().stream()
            .map(neighbor -> neighbor.getEntry().getKey())
            .toList());
    final NearestRequest none = nearest.setFilter(Filter.getDefaultInstance()).build();
    refused(Status.Code.INVALID_ARGUMENT, "missing", () -> index.nearest(none));
  }

  private static Filter atLeast(int offset, long number) {
    return Filter.newBuilder()
        .setComparison(
            FieldComparison.newBuilder()
                .setField(number(offset))
                .setRelation(Relation.GREATER_OR_EQUAL)
                .setInteger(number))
        .build();
  }

  private static ScanRequest.Builder scan(long least) {
    return ScanRequest.newBuilder().setIndex("i").setFilter(atLeast(0, least));
  }

  private static List<ByteString> keys(int from, int to) {
    final List<ByteString> keys = new ArrayList<>();
    for (int n = from; n < to; n++) {
      keys.add(key(n));
    }
    return keys;
  }

  private static List<ByteString> keys(Iterator<ScanResponse> pages) {
    final List<ByteString> keys = new ArrayList<>();
    pages.forEachRemaining(
        page -> page.getEntriesList().stream().map(Entry::getKey).forEach(keys::add));
    return keys;
  }

  @Test
  void scansGiveWhatTheFilterAccepts() {
    create(IndexKind.ORDERED, ENTRIES);
    final List<ByteString> expected = keys(ENTRIES - 70, ENTRIES);
    final ScanRequest.Builder request = scan(ENTRIES - 70);
    assertEquals(expected, keys(index.scan(request.build())));
    assertEquals(expected, keys(index.scan(request.setSnapshot(true).build())), "a snapshot");
    Collections.reverse(expected);
    assertEquals(expected, keys(index.scan(request.setReverse(true).build())));
    request.clearSnapshot().setLimit(3).setKeysOnly(true);
    assertEquals(expected.subList(0, 3), keys(index.scan(request.build())));
    assertEquals(List.of(), keys(index.scan(scan(ENTRIES).build())));
    assertEquals(List.of(), keys(index.scan(scan(0).setIndex("none").build())));
  }

  /** A snapshot has the entries that were replaced since, if the filter accepts these. */
  @Test
  void snapshotsFilterWhatWasReplaced() {
    create(IndexKind.ORDERED, ENTRIES, 4 << 10); // more than is sent ahead
    final Filter small = Filter.newBuilder().setNot(atLeast(0, 2_000)).build();
    final Iterator<ScanResponse> pages =
        index.scan(scan(0).setFilter(small).setSnapshot(true).setPageSize(10).build());
    final List<ByteString> keys = new ArrayList<>();
    pages.next().getEntriesList().forEach(entry -> keys.add(entry.getKey()));
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("i");
    for (int n = 0; n < ENTRIES; n++) { // the smallest become the greatest
      batch.addEntries(
          PutEntry.newBuilder()
              .setKey(key(n))
              .setValue(CounterDescriptor.value((long) (ENTRIES - n))));
    }
    index.batchPut(batch.build());
    keys.addAll(keys(pages));
    assertEquals(keys(0, 2_000), keys);
  }

  /** The call of a page ends though it has found nothing: its client goes on. */
  @Test
  void pagesEndAfterABoundedNumberOfEntries() {
    final int entries = 70_000; // more than the steps of a page pass by
    create(IndexKind.ORDERED, entries);
    ScanResponse page = index.scanPage(scan(entries - 1).build());
    assertEquals(0, page.getEntriesCount());
    assertFalse(page.getNextPageToken().isEmpty());
    int pages = 1;
    final List<ByteString> keys = new ArrayList<>();
    while (!page.getNextPageToken().isEmpty()) {
      page = index.scanPage(scan(entries - 1).setPageToken(page.getNextPageToken()).build());
      page.getEntriesList().forEach(entry -> keys.add(entry.getKey()));
      pages++;
    }
    assertEquals(List.of(key(entries - 1)), keys);
    assertTrue(pages <= 3, "pages=" + pages);
  }

  @Test
  void scansOfHashIndexesFilter() {
    create(IndexKind.HASH, ENTRIES);
    final ScanRequest.Builder request = scan(ENTRIES - 70).setUnordered(true);
    final List<ByteString> keys = keys(index.scan(request.build()));
    Collections.sort(keys, ByteString.unsignedLexicographicalComparator());
    assertEquals(keys(ENTRIES - 70, ENTRIES), keys);
    assertEquals(5, keys(index.scan(request.setLimit(5).setKeysOnly(true).build())).size());
  }

  /** One match at the end: a small limit does not make small steps. */
  @Test
  void scansOfHashIndexesTakeFewPages() {
    create(IndexKind.HASH, 20_000);
    final ScanRequest.Builder request = scan(19_999).setUnordered(true).setLimit(1);
    int pages = 0;
    ScanResponse page;
    do {
      page = index.scanPage(request.build());
      request.setPageToken(page.getNextPageToken());
      pages++;
    } while (page.getEntriesCount() == 0 && !page.getNextPageToken().isEmpty());
    assertEquals(key(19_999), page.getEntries(0).getKey());
    assertTrue(pages <= 3, "pages=" + pages);
  }

  /** The client learns that the server is at it. */
  @Test
  void streamsSendEmptyPagesWhereTheFilterAcceptsLittle() {
    final int entries = 70_000;
    create(IndexKind.ORDERED, entries);
    for (final boolean snapshot : new boolean[] {false, true}) {
      final List<ScanResponse> pages = new ArrayList<>();
      index.scan(scan(entries - 1).setSnapshot(snapshot).build()).forEachRemaining(pages::add);
      assertEquals(2, pages.size());
      assertEquals(0, pages.get(0).getEntriesCount());
      assertFalse(pages.get(0).getNextPageToken().isEmpty());
      assertEquals(1, pages.get(1).getEntriesCount());
    }
  }

  @Test
  void searchesFilter() {
    create(IndexKind.SPATIAL, ENTRIES);
    final SearchRequest request =
        SearchRequest.newBuilder()
            .setIndex("i")
            .setIntersects(box(0, ENTRIES - 50))
            .setFilter(atLeast(BOX, ENTRIES - 70))
            .build();
    final List<ByteString> keys = keys(index.search(request));
    Collections.sort(keys, ByteString.unsignedLexicographicalComparator());
    assertEquals(keys(ENTRIES - 70, ENTRIES - 49), keys);
  }

  private static Box box(double from, double to) {
    return Box.newBuilder().setMinX(from).setMaxX(to).build();
  }

  @Test
  void countsFilterAndSumUp() {
    create(IndexKind.ORDERED, ENTRIES);
    final CountRequest.Builder request =
        CountRequest.newBuilder()
            .setIndex("i")
            .setRange(KeyRange.newBuilder().setEnd(key(100)))
            .setFilter(atLeast(0, 90));
    assertEquals(10, index.count(request.build()).getEntries());
    final CountResponse all =
        index.count(CountRequest.newBuilder().setIndex("i").setSummary(number(0)).build());
    assertEquals(ENTRIES, all.getEntries());
    assertEquals(ENTRIES, all.getSummary().getEntries());
    assertEquals(LongStream.range(0, ENTRIES).sum(), all.getSummary().getSum());
    assertEquals(0, all.getSummary().getLeast());
    assertEquals(ENTRIES - 1, all.getSummary().getGreatest());
    assertFalse(index.count(request.build()).hasSummary());
    final CountResponse none = index.count(request.setIndex("none").setSummary(number(0)).build());
    assertEquals(0, none.getEntries());
    assertTrue(none.hasSummary());
  }

  @Test
  void countsOfBoxesFilterAndSumUp() {
    create(IndexKind.SPATIAL, ENTRIES);
    final CountResponse counted =
        index.count(
            CountRequest.newBuilder()
                .setIndex("i")
                .setIntersects(box(0, 99))
                .setFilter(atLeast(BOX, 90))
                .setSummary(number(BOX))
                .build());
    assertEquals(10, counted.getEntries());
    assertEquals(945, counted.getSummary().getSum());
  }

  private static void refused(Status.Code code, String text, Executable call) {
    final StatusRuntimeException e = assertThrows(StatusRuntimeException.class, call);
    assertEquals(code, e.getStatus().getCode());
    assertTrue(e.getMessage().contains(text), e.getMessage());
  }

  @Test
  void whatIsNoFilterIsRefused() {
    create(IndexKind.HASH, 1);
    final Filter none = Filter.getDefaultInstance();
    final Status.Code invalid = Status.Code.INVALID_ARGUMENT;
    refused(invalid, "missing", () -> index.scanPage(scan(0).setFilter(none).build()));
    refused(
        invalid,
        "missing",
        () ->
            index
                .search(
                    SearchRequest.newBuilder()
                        .setIndex("i")
                        .setIntersects(box(0, 1))
                        .setFilter(none)
                        .build())
                .hasNext());
    final CountRequest.Builder count = CountRequest.newBuilder().setIndex("none");
    refused(invalid, "missing", () -> index.count(count.setFilter(none).build()));
    count.clearFilter().setSummary(Field.getDefaultInstance());
    refused(invalid, "no number", () -> index.count(count.build()));
    refused(
        Status.Code.FAILED_PRECONDITION,
        "no order",
        () -> index.count(count.setIndex("i").setSummary(number(0)).build()));
  }
}
