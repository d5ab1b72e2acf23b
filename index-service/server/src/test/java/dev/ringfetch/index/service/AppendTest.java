package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.AppendDescriptor;
import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.AppendResponse;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.TransactOperation;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.WriteEntry;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Appends to an index that was created for them: offsets, times, repetitions and refusals. */
@Timeout(120)
final class AppendTest {
  private static final String LOG = "topic.orders.0";
  private static final ByteString SHORT = ByteString.copyFromUtf8("short");

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub stub;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    stub = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
    create(0, 0);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void create(long retentionMs, long retentionBytes) {
    final CreateIndexRequest.Builder request = CreateIndexRequest.newBuilder().setIndex(LOG);
    request.getAppendsBuilder().setRetentionMs(retentionMs).setRetentionBytes(retentionBytes);
    assertTrue(admin.createIndex(request.build()).getIncarnation() != 0);
  }

  private static AppendRequest.Builder request(int first, int count) {
    return AppendRequest.newBuilder()
        .setIndex(LOG)
        .addAllRecords(
            IntStream.range(first, first + count)
                .mapToObj(i -> ByteString.copyFromUtf8("record " + i))
                .toList());
  }

  private List<Long> append(int first, int count) {
    final AppendResponse response = stub.append(request(first, count).build());
    assertEquals(0, response.getCode(), response.getDescription());
    assertEquals(count, response.getOffsetsCount());
    return response.getOffsetsList();
  }

  private List<Entry> all() {
    final List<Entry> entries = new ArrayList<>();
    stub.scan(ScanRequest.newBuilder().setIndex(LOG).build())
        .forEachRemaining(page -> entries.addAll(page.getEntriesList()));
    return entries;
  }

  private static void assertRefused(Status.Code code, String text, Executable call) {
    final StatusRuntimeException refused = assertThrows(StatusRuntimeException.class, call);
    assertEquals(code, refused.getStatus().getCode(), refused.getMessage());
    assertTrue(refused.getMessage().contains(text), refused.getMessage());
  }

  @Test
  void recordsStandInOrderUnderTheirVersions() {
    final long beforeMs = System.currentTimeMillis();
    final List<Long> offsets = new ArrayList<>();
    for (int i = 0; i < 100; i += 10) {
      offsets.addAll(append(i, 10));
    }
    final List<Entry> entries = all();
    assertEquals(100, entries.size());
    long lastMs = beforeMs;
    for (int i = 0; i < 100; i++) {
      final Entry entry = entries.get(i);
      assertEquals(offsets.get(i), entry.getVersion());
      assertEquals(AppendDescriptor.key(entry.getVersion()), entry.getKey());
      assertEquals("record " + i, AppendDescriptor.record(entry.getValue()).toStringUtf8());
      final long timeMs = AppendDescriptor.time(entry.getValue());
      assertTrue(timeMs >= lastMs, () -> "time=" + timeMs);
      lastMs = timeMs;
    }
    assertTrue(lastMs <= System.currentTimeMillis());
    assertTrue(offsets.get(0) > 0);
  }

  @Test
  void aRepeatedCallAnswersTheSameOffsets() {
    final long client =
        stub.openClient(OpenClientRequest.newBuilder().setIndex(LOG).build()).getClient();
    final RequestNumber.Builder number =
        RequestNumber.newBuilder().setClient(client).setFirstIncomplete(1);
    final AppendRequest first = request(0, 3).setNumber(number.setNumber(1)).build();
    final List<Long> offsets = stub.append(first).getOffsetsList();
    final AppendRequest longer = request(0, 5).setNumber(number.setNumber(1)).build();
    assertEquals(offsets, stub.append(first).getOffsetsList());
    final AppendResponse longest = stub.append(longer); // as after a part was lost
    final List<Long> more = longest.getOffsetsList();
    assertEquals(offsets, more.subList(0, 3));
    assertEquals(5, more.size());
    assertEquals(more, all().stream().map(Entry::getVersion).toList());
    assertEquals(List.of(0L), stub.append(first).getTimesMsList());
    assertEquals(
        List.of(0L, 0L, 0L, AppendDescriptor.time(all().get(3).getValue())),
        longest.getTimesMsList().subList(0, 4));
  }

  @Test
  void otherWritesOfEntriesAreRefused() {
    final ByteString key = AppendDescriptor.key(append(0, 1).get(0));
    final String why = "takes no entries but those that are appended: index=" + LOG;
    final List<Executable> writes =
        List.of(
            () -> stub.put(PutRequest.newBuilder().setIndex(LOG).setKey(key).build()),
            () -> stub.put(PutRequest.newBuilder().setIndex(LOG).setKey(key).setTtlMs(9).build()),
            () ->
                stub.compareAndSet(
                    CompareAndSetRequest.newBuilder().setIndex(LOG).setKey(SHORT).build()),
            () -> {
              final UpdateRequest.Builder touch = UpdateRequest.newBuilder().setIndex(LOG);
              touch.setKey(key).getTouchBuilder().setTtlMs(1);
              stub.update(touch.build());
            },
            () ->
                stub.transact(
                    TransactRequest.newBuilder()
                        .setIndex(LOG)
                        .addThen(
                            TransactOperation.newBuilder()
                                .setKey(SHORT)
                                .setPut(WriteEntry.newBuilder().setTtlMs(5)))
                        .build()));
    for (final Executable write : writes) {
      assertRefused(Status.Code.FAILED_PRECONDITION, why, write);
    }
    final BatchPutRequest batch =
        BatchPutRequest.newBuilder()
            .setIndex(LOG)
            .addEntries(PutEntry.newBuilder().setKey(SHORT))
            .build();
    assertEquals(
        Status.Code.FAILED_PRECONDITION.value(), stub.batchPut(batch).getOutcomes(0).getCode());
    assertEquals(1, all().size());
    assertTrue(
        stub.delete(DeleteRequest.newBuilder().setIndex(LOG).setKey(key).build()).getExisted());
    assertTrue(append(1, 1).get(0) > AppendDescriptor.offset(key));
  }

  @Test
  void onlyAnIndexForAppendsTakesThem() {
    final AppendRequest toDefault = request(0, 1).setIndex("").build();
    assertRefused(
        Status.Code.FAILED_PRECONDITION,
        "was not created for appends: index=default",
        () -> stub.append(toDefault));
    final AppendRequest toNone = request(0, 1).setIndex("none").build();
    assertRefused(Status.Code.NOT_FOUND, "no such index: index=none", () -> stub.append(toNone));
    assertTrue(!stub.describe(DescribeRequest.newBuilder().setIndex("none").build()).hasIndex());
  }

  @Test
  void limitsAreChecked() {
    final AppendRequest.Builder none = AppendRequest.newBuilder().setIndex(LOG);
    assertRefused(
        Status.Code.INVALID_ARGUMENT, "no records to append", () -> stub.append(none.build()));
    final AppendRequest.Builder many = AppendRequest.newBuilder().setIndex(LOG);
    for (int i = 0; i < 10_001; i++) {
      many.addRecords(ByteString.EMPTY);
    }
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "too many records: count=10001 limit=10000",
        () -> stub.append(many.build()));
    final ByteString longest = ByteString.copyFrom(new byte[AppendDescriptor.MAX_RECORD_LENGTH]);
    final AppendRequest.Builder tooLong =
        AppendRequest.newBuilder()
            .setIndex(LOG)
            .addRecords(SHORT)
            .addRecords(longest.concat(ByteString.copyFrom(new byte[1])));
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "record is too long: size=1048569 limit=1048568",
        () -> stub.append(tooLong.build()));
    assertEquals(List.of(), all());
    final AppendRequest.Builder long1 =
        AppendRequest.newBuilder().setIndex(LOG).addRecords(longest).addRecords(ByteString.EMPTY);
    assertEquals(2, stub.append(long1.build()).getOffsetsCount());
    assertEquals(longest, AppendDescriptor.record(all().get(0).getValue()));
  }

  @Test
  void behindARefusedRecordAllAreRefused() {
    final ByteString large = ByteString.copyFrom(new byte[1 << 19]);
    final AppendRequest fill =
        AppendRequest.newBuilder().setIndex(LOG).addRecords(large).addRecords(large).build();
    AppendResponse response;
    int written = 0;
    do {
      response = stub.append(fill);
      written += response.getOffsetsCount();
    } while (response.getCode() == 0 && written < 10_000);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED.value(), response.getCode());
    assertTrue(response.getDescription().contains("memory"), response.getDescription());
    final AppendRequest mixed =
        AppendRequest.newBuilder().setIndex(LOG).addRecords(large).addRecords(SHORT).build();
    response = stub.append(mixed);
    assertEquals(0, response.getOffsetsCount());
    assertEquals(Status.Code.RESOURCE_EXHAUSTED.value(), response.getCode());
    assertEquals(
        written,
        stub.describe(DescribeRequest.newBuilder().setIndex(LOG).build()).getIndex().getEntries());
    final AppendRequest last = AppendRequest.newBuilder().setIndex(LOG).addRecords(SHORT).build();
    assertEquals(1, stub.append(last).getOffsetsCount()); // there was room for it
  }

  @Test
  void aCreationAsksForTheSame() {
    final CreateIndexRequest.Builder other = CreateIndexRequest.newBuilder().setIndex(LOG);
    other.getAppendsBuilder().setRetentionMs(5);
    assertRefused(
        Status.Code.ALREADY_EXISTS,
        "retention_ms=0 retention_bytes=0",
        () -> admin.createIndex(other.build()));
    final CreateIndexRequest.Builder wrong = CreateIndexRequest.newBuilder().setIndex("default");
    wrong.getAppendsBuilder().setRetentionMs(5);
    assertRefused(
        Status.Code.ALREADY_EXISTS,
        "not created for appends: index=default",
        () -> admin.createIndex(wrong.build()));
    final CreateIndexRequest.Builder hash = CreateIndexRequest.newBuilder().setIndex("hash");
    hash.setKind(IndexKind.HASH).getAppendsBuilder();
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "is ORDERED: kind=HASH",
        () -> admin.createIndex(hash.build()));
    final CreateIndexRequest.Builder large = CreateIndexRequest.newBuilder().setIndex("large");
    large.getAppendsBuilder().setRetentionBytes(-1);
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        "retention_bytes=18446744073709551615",
        () -> admin.createIndex(large.build()));
    assertEquals(
        Appends.getDefaultInstance(),
        stub.describe(DescribeRequest.newBuilder().setIndex(LOG).build()).getIndex().getAppends());
  }
}
