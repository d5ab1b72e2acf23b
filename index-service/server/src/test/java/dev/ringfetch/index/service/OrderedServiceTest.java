package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the service answers for ordered indexes, over a channel. */
class OrderedServiceTest {
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");
  private static final int ENTRIES = 5000;

  /** Entries of 20 KiB: more than all buffers of a connection hold. */
  private static final int LARGE = 800;

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub stub;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    stub = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
    admin =
        IndexAdminGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
    create("o");
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private long create(String index) {
    return admin
        .createIndex(
            CreateIndexRequest.newBuilder().setIndex(index).setKind(IndexKind.ORDERED).build())
        .getIncarnation();
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(String.format("key %06d", number));
  }

  /** Keys of these numbers. */
  private static List<ByteString> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(OrderedServiceTest::key).toList();
  }

  private static List<ByteString> reversed(List<ByteString> keys) {
    final List<ByteString> reversed = new ArrayList<>(keys);
    Collections.reverse(reversed);
    return reversed;
  }

  private void fill(int entries, ByteString value) {
    final int step = 100;
    for (int i = 0; i < entries; i += step) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("o");
      for (int j = i; j < Math.min(i + step, entries); j++) {
        batch.addEntries(PutEntry.newBuilder().setKey(key(j)).setValue(value));
      }
      for (PutOutcome outcome : stub.batchPut(batch.build()).getOutcomesList()) {
        assertTrue(outcome.getCreated());
      }
    }
  }

  private static ScanRequest.Builder scan() {
    return ScanRequest.newBuilder().setIndex("o");
  }

  private static KeyRange range(int from, int to) {
    return KeyRange.newBuilder().setStart(key(from)).setEnd(key(to)).build();
  }

  private static KeyRange prefix(String prefix) {
    return KeyRange.newBuilder().setPrefix(ByteString.copyFromUtf8(prefix)).build();
  }

  private List<ByteString> keysOf(ScanRequest.Builder request) {
    final List<ByteString> keys = new ArrayList<>();
    stub.scan(request.build())
        .forEachRemaining(page -> page.getEntriesList().forEach(entry -> keys.add(entry.getKey())));
    return keys;
  }

  private static StatusRuntimeException refused(Status.Code code, Executable call) {
    final StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, call);
    assertEquals(code, refused.getStatus().getCode(), refused::getMessage);
    return refused;
  }

  @Test
  void singleKeysAreServedAsInAnyIndex() {
    final long version =
        stub.put(PutRequest.newBuilder().setIndex("o").setKey(key(1)).setValue(VALUE).build())
            .getVersion();
    final GetRequest get = GetRequest.newBuilder().setIndex("o").setKey(key(1)).build();
    final GetResponse found = stub.get(get);
    assertEquals(
        Entry.newBuilder().setKey(key(1)).setValue(VALUE).setVersion(version).build(),
        found.getEntry());
    final CompareAndSetRequest.Builder compare =
        CompareAndSetRequest.newBuilder().setIndex("o").setKey(key(1)).setValue(key(7));
    final CompareAndSetResponse lost = stub.compareAndSet(compare.build());
    assertFalse(lost.getApplied());
    assertEquals(found.getEntry(), lost.getEntry());
    assertTrue(stub.compareAndSet(compare.setExpectedVersion(version).build()).getApplied());
    assertEquals(
        List.of(key(7), ByteString.EMPTY),
        stub
            .batchGet(
                BatchGetRequest.newBuilder().setIndex("o").addKeys(key(1)).addKeys(key(2)).build())
            .getAnswersList()
            .stream()
            .map(answer -> answer.getEntry().getValue())
            .toList());
    assertEquals(1, stub.count(CountRequest.newBuilder().setIndex("o").build()).getEntries());
    final DeleteRequest delete = DeleteRequest.newBuilder().setIndex("o").setKey(key(1)).build();
    assertTrue(stub.delete(delete).getExisted());
    assertFalse(stub.delete(delete).getExisted());
    assertFalse(stub.get(get).hasEntry());
  }

  @Test
  void descriptionSaysOrderedAndOnePartition() {
    final IndexDescription description =
        stub.describe(DescribeRequest.newBuilder().setIndex("o").build()).getIndex();
    assertEquals(IndexKind.ORDERED, description.getKind());
    assertEquals(1, description.getPartitions());
  }

  @Test
  void indexOfAnotherKindIsNoAnswer() {
    final StatusRuntimeException refused =
        refused(
            Status.Code.ALREADY_EXISTS,
            () ->
                admin.createIndex(
                    CreateIndexRequest.newBuilder().setIndex("o").setKind(IndexKind.HASH).build()));
    assertEquals(
        "the index is of another kind: index=o kind=ORDERED", refused.getStatus().getDescription());
    assertFalse(
        admin.createIndex(CreateIndexRequest.newBuilder().setIndex("o").build()).getCreated());
    assertFalse(admin.createIndex(CreateIndexRequest.getDefaultInstance()).getCreated());
  }

  @Test
  void scansAreInOrderBothWays() {
    fill(ENTRIES, VALUE);
    assertEquals(keys(0, ENTRIES), keysOf(scan()));
    assertEquals(reversed(keys(0, ENTRIES)), keysOf(scan().setReverse(true)));
    assertEquals(keys(100, 2100), keysOf(scan().setRange(range(100, 2100))));
    assertEquals(
        reversed(keys(100, 2100)), keysOf(scan().setRange(range(100, 2100)).setReverse(true)));
    assertEquals(keys(100, 1600), keysOf(scan().setRange(range(100, 2100)).setLimit(1500)));
    assertEquals(
        reversed(keys(600, 2100)),
        keysOf(scan().setRange(range(100, 2100)).setReverse(true).setLimit(1500)));
    assertEquals(List.of(), keysOf(scan().setRange(range(7, 7))));
    assertEquals(List.of(), keysOf(scan().setRange(range(9, 7)).setReverse(true)));
  }

  @Test
  void boundsAndPrefixHoldTogether() {
    fill(1000, VALUE);
    assertEquals(keys(120, 130), keysOf(scan().setRange(prefix("key 00012"))));
    assertEquals(
        reversed(keys(120, 130)), keysOf(scan().setRange(prefix("key 00012")).setReverse(true)));
    final KeyRange both = prefix("key 00012").toBuilder().setStart(key(125)).build();
    assertEquals(keys(125, 130), keysOf(scan().setRange(both)));
    assertEquals(keys(125, 128), keysOf(scan().setRange(both.toBuilder().setEnd(key(128)))));
    final ByteString last = ByteString.copyFrom(new byte[] {-1, -1});
    for (ByteString key : List.of(last, last.concat(last), last.substring(1))) {
      stub.put(PutRequest.newBuilder().setIndex("o").setKey(key).build());
    }
    assertEquals(
        List.of(last, last.concat(last)),
        keysOf(scan().setRange(KeyRange.newBuilder().setPrefix(last))));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pagesGoOnWhereTheOneBeforeEnds(boolean reverse) {
    fill(1000, VALUE);
    final List<ByteString> keys = new ArrayList<>();
    ScanRequest.Builder request =
        scan().setReverse(reverse).setRange(range(10, 990)).setPageSize(77).setKeysOnly(true);
    int pages = 0;
    while (true) {
      final ScanResponse page = stub.scanPage(request.build());
      for (Entry entry : page.getEntriesList()) {
        keys.add(entry.getKey());
        assertTrue(entry.getValue().isEmpty() && entry.getVersion() > 0);
      }
      pages++;
      if (page.getNextPageToken().isEmpty()) {
        break;
      }
      assertEquals(77, page.getEntriesCount());
      request.setPageToken(page.getNextPageToken());
    }
    assertEquals(reverse ? reversed(keys(10, 990)) : keys(10, 990), keys);
    assertEquals(13, pages);

    // A token does not lead out of a range.
    final ByteString token = request.getPageToken();
    request = scan().setReverse(reverse).setRange(range(400, 410)).setPageToken(token);
    assertEquals(0, stub.scanPage(request.build()).getEntriesCount());
    refused(
        Status.Code.INVALID_ARGUMENT,
        () -> stub.scanPage(scan().setReverse(!reverse).setPageToken(token).build()));
    refused(
        Status.Code.INVALID_ARGUMENT,
        () -> stub.scanPage(scan().setPageToken(token.substring(0, 5)).build()));
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("o").build());
    refused(
        Status.Code.ABORTED,
        () -> stub.scanPage(scan().setReverse(reverse).setPageToken(token).build()));
  }

  /** Far more than a client takes at once: pages of bounded size come as it takes them. */
  @Test
  void longScansArePacedByTheClient() {
    final ByteString value = ByteString.copyFrom(new byte[20 << 10]);
    fill(LARGE, value);
    final Iterator<ScanResponse> pages = stub.scan(scan().build());
    final List<ByteString> keys = new ArrayList<>();
    while (pages.hasNext()) {
      final ScanResponse page = pages.next();
      assertTrue(page.getSerializedSize() < (256 << 10) + (21 << 10) + 1024);
      page.getEntriesList().forEach(entry -> keys.add(entry.getKey()));
    }
    assertEquals(keys(0, LARGE), keys);
    final ScanResponse first = stub.scanPage(scan().build());
    assertTrue(first.getEntriesCount() < 20, "entries=" + first.getEntriesCount());
  }

  /** Scans that a client leaves end at the server: the index can be used and dropped. */
  @Test
  void cancelledScansEnd() {
    fill(LARGE, ByteString.copyFrom(new byte[20 << 10]));
    for (int i = 0; i < 20; i++) {
      final Context.CancellableContext context = Context.current().withCancellation();
      context.run(
          () -> assertEquals(key(0), stub.scan(scan().build()).next().getEntries(0).getKey()));
      context.cancel(null);
    }
    assertEquals(keys(0, LARGE), keysOf(scan().setKeysOnly(true)));
  }

  @Test
  void scanOfADroppedIndexIsAborted() {
    fill(LARGE, ByteString.copyFrom(new byte[20 << 10]));
    final Iterator<ScanResponse> pages = stub.scan(scan().build());
    pages.next();
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("o").build());
    create("o");
    refused(Status.Code.ABORTED, () -> pages.forEachRemaining(page -> {}));
    assertEquals(List.of(), keysOf(scan()));
  }

  @Test
  void rangesAreCounted() {
    fill(ENTRIES, VALUE);
    final CountRequest.Builder count = CountRequest.newBuilder().setIndex("o");
    assertEquals(ENTRIES, stub.count(count.build()).getEntries());
    assertEquals(3000, stub.count(count.setRange(range(500, 3500)).build()).getEntries());
    assertEquals(100, stub.count(count.setRange(prefix("key 0001")).build()).getEntries());
    assertEquals(0, stub.count(count.setRange(prefix("no")).build()).getEntries());
  }

  @Test
  void rangesAreDeletedInSteps() {
    fill(ENTRIES, VALUE);
    final DeleteRangeRequest.Builder delete =
        DeleteRangeRequest.newBuilder().setIndex("o").setRange(range(100, 4900)).setLimit(1000);
    long removed = 0;
    int calls = 0;
    DeleteRangeResponse response;
    do {
      response = stub.deleteRange(delete.build());
      assertTrue(response.getRemoved() <= 1000);
      removed += response.getRemoved();
      calls++;
    } while (response.getMore());
    assertEquals(4800, removed);
    assertEquals(5, calls);
    final List<ByteString> left = new ArrayList<>(keys(0, 100));
    left.addAll(keys(4900, ENTRIES));
    assertEquals(left, keysOf(scan()));
    assertEquals(200, stub.deleteRange(delete.clearRange().setLimit(0).build()).getRemoved());
    assertEquals(List.of(), keysOf(scan()));
  }

  @Test
  void hashIndexesHaveNoRanges() {
    stub.put(PutRequest.newBuilder().setKey(key(1)).build());
    refused(Status.Code.FAILED_PRECONDITION, () -> stub.scanPage(ScanRequest.getDefaultInstance()));
    refused(
        Status.Code.FAILED_PRECONDITION, () -> stub.scan(ScanRequest.getDefaultInstance()).next());
    refused(
        Status.Code.FAILED_PRECONDITION,
        () -> stub.deleteRange(DeleteRangeRequest.getDefaultInstance()));
    final StatusRuntimeException refused =
        refused(
            Status.Code.FAILED_PRECONDITION,
            () -> stub.count(CountRequest.newBuilder().setRange(range(0, 1)).build()));
    assertEquals(
        "keys of this index have no order: index=default kind=HASH; create one of kind ORDERED",
        refused.getStatus().getDescription());
    assertEquals(1, stub.count(CountRequest.getDefaultInstance()).getEntries());
  }

  @Test
  void unknownIndexesHaveNoEntries() {
    assertFalse(stub.scan(ScanRequest.newBuilder().setIndex("no").build()).hasNext());
    assertEquals(
        ScanResponse.getDefaultInstance(),
        stub.scanPage(ScanRequest.newBuilder().setIndex("no").build()));
    assertEquals(
        DeleteRangeResponse.getDefaultInstance(),
        stub.deleteRange(DeleteRangeRequest.newBuilder().setIndex("no").build()));
  }

  @Test
  void boundsAreAByteLongerThanKeysAtMost() {
    final ByteString longest = ByteString.copyFrom(new byte[1025]);
    final ByteString tooLong = ByteString.copyFrom(new byte[1026]);
    isRefused("start is too long: size=1026 limit=1025 bytes", range().setStart(tooLong));
    isRefused("end is too long: size=1026 limit=1025 bytes", range().setEnd(tooLong));
    isRefused("prefix is too long: size=1025 limit=1024 bytes", range().setPrefix(longest));
    assertEquals(
        0,
        stub.scanPage(scan().setRange(range().setStart(longest).setEnd(longest)).build())
            .getEntriesCount());
  }

  private static KeyRange.Builder range() {
    return KeyRange.newBuilder();
  }

  private void isRefused(String description, KeyRange.Builder range) {
    final StatusRuntimeException refused =
        refused(Status.Code.INVALID_ARGUMENT, () -> stub.scanPage(scan().setRange(range).build()));
    assertEquals(description, refused.getStatus().getDescription());
  }
}
