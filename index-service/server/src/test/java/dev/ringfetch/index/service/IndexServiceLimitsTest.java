package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Every way in which a call of the service ends in error, and what is just within its limits. */
class IndexServiceLimitsTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");
  private static final int KIB = 1024;
  private static final int MIB = 1024 * KIB;
  private static final long SHORT_MEMORY = 32L * MIB;

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub stub;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    stub = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void keyMayNotBeEmpty() {
    keyIsRefused(ByteString.EMPTY, "key is empty");
  }

  @Test
  void keyHasAtMostOneKibibyte() {
    final ByteString longest = zeros(KIB);
    stub.put(put("", longest, VALUE));
    assertEquals(VALUE, stub.get(get("", longest)).getEntry().getValue());
    keyIsRefused(zeros(KIB + 1), "key is too long: size=1025 limit=1024 bytes");
  }

  private void keyIsRefused(ByteString key, String description) {
    isInvalid(description, () -> stub.get(get("", key)));
    isInvalid(description, () -> stub.get(get("unknown", key)));
    isInvalid(description, () -> stub.batchGet(batchGet("", KEY, key)));
    isInvalid(description, () -> stub.put(put("", key, VALUE)));
    isInvalid(description, () -> stub.delete(delete("", key)));
    isInvalid(description, () -> stub.compareAndSet(compareAndSet("", key, VALUE, 0)));
  }

  @Test
  void valueHasAtMostOneMebibyte() {
    final ByteString longest = zeros(MIB);
    stub.put(put("", KEY, longest));
    assertEquals(longest, stub.get(get("", KEY)).getEntry().getValue());

    final ByteString tooLong = zeros(MIB + 1);
    final String description = "value is too long: size=1048577 limit=1048576 bytes";
    isInvalid(description, () -> stub.put(put("", KEY, tooLong)));
    isInvalid(description, () -> stub.compareAndSet(compareAndSet("", KEY, tooLong, 1)));
    assertEquals(longest, stub.get(get("", KEY)).getEntry().getValue());
  }

  @Test
  void indexNameHasAtMost255Bytes() {
    final String longest = "é".repeat(127) + "e";
    stub.put(put(longest, KEY, VALUE));
    assertTrue(stub.get(get(longest, KEY)).hasEntry());

    final String tooLong = "é".repeat(128);
    final String description = "index name is too long: size=256 limit=255 bytes";
    isInvalid(description, () -> stub.get(get(tooLong, KEY)));
    isInvalid(description, () -> stub.batchGet(batchGet(tooLong, KEY)));
    isInvalid(description, () -> stub.put(put(tooLong, KEY, VALUE)));
    isInvalid(description, () -> stub.delete(delete(tooLong, KEY)));
    isInvalid(description, () -> stub.compareAndSet(compareAndSet(tooLong, KEY, VALUE, 0)));
    isInvalid(description, () -> stub.compareAndSet(compareAndSet(tooLong, KEY, VALUE, 1)));
  }

  @Test
  void batchHasAtMostTenThousandKeys() {
    final BatchGetRequest most =
        BatchGetRequest.newBuilder().addAllKeys(Collections.nCopies(10_000, KEY)).build();
    assertEquals(10_000, stub.batchGet(most).getAnswersCount());
    isInvalid(
        "too many keys: count=10001 limit=10000",
        () -> stub.batchGet(most.toBuilder().addKeys(KEY).build()));
  }

  @Test
  void answerToABatchHasAtMostFourMebibytes() {
    // With key, version and the lengths of all of it, an entry of this size answers in 1 MiB.
    final int overheadBytes = stub.batchGet(batchGet("", KEY)).getSerializedSize();
    final int incarnationBytes = 1 + Long.BYTES;
    assertEquals(incarnationBytes + 2, overheadBytes, "an absent one: tag and length");
    stub.put(put("", KEY, zeros(MIB - 32)));
    final int oneBytes = stub.batchGet(batchGet("", KEY)).getSerializedSize();
    final int spare = MIB - (oneBytes - incarnationBytes);
    final ByteString last = ByteString.copyFromUtf8("end"); // as long as the other key
    stub.put(put("", KEY, zeros(MIB - 32 + spare)));
    stub.put(put("", last, zeros(MIB - 32 + spare - incarnationBytes)));
    final BatchGetResponse longest = stub.batchGet(batchGet("", KEY, KEY, KEY, last));
    assertEquals(4, longest.getAnswersCount());
    assertEquals(4 * MIB, longest.getSerializedSize());
    final ByteString absent = ByteString.copyFromUtf8("absent");
    ends(
        Status.Code.RESOURCE_EXHAUSTED,
        "answer is too long: limit=4194304 bytes, room for 4 of 5 entries",
        () -> stub.batchGet(batchGet("", KEY, KEY, KEY, last, absent)));
    ends(
        Status.Code.RESOURCE_EXHAUSTED,
        "answer is too long: limit=4194304 bytes, room for 3 of 4 entries",
        () -> stub.batchGet(batchGet("", KEY, KEY, KEY, KEY)));
  }

  @Test
  void batchThatAsksForMoreThanAMessageCanHoldIsRefusedToo() {
    stub.put(put("", KEY, zeros(MIB)));
    ends(
        Status.Code.RESOURCE_EXHAUSTED,
        "answer is too long: limit=4194304 bytes, room for 3 of 10000 entries",
        () ->
            stub.batchGet(
                BatchGetRequest.newBuilder().addAllKeys(Collections.nCopies(10_000, KEY)).build()));
  }

  @Test
  void batchOfPutsHasAtMostTenThousandEntries() {
    final PutEntry entry = PutEntry.newBuilder().setKey(KEY).build();
    final BatchPutRequest most =
        BatchPutRequest.newBuilder().addAllEntries(Collections.nCopies(10_000, entry)).build();
    assertEquals(10_000, stub.batchPut(most).getOutcomesCount());
    isInvalid(
        "too many keys: count=10001 limit=10000",
        () -> stub.batchPut(most.toBuilder().addEntries(entry).build()));
  }

  @Test
  void memoryIsBoundedAndReadsAndDeletesGoOnWhenItIsFull() throws IOException {
    stop();
    server = LocalServer.start(SHORT_MEMORY);
    stub = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
    final ByteString value = zeros(MIB);
    int stored = 0;
    Status full = null;
    while (full == null) {
      try {
        stub.put(put("", number(stored), value));
        stored++;
        assertTrue(stored <= SHORT_MEMORY / MIB, "more than there is memory");
      } catch (StatusRuntimeException e) {
        full = e.getStatus();
      }
    }
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, full.getCode());
    assertEquals(
        "index memory is full: limit="
            + SHORT_MEMORY
            + " bytes, which --memory sets; deletes make room",
        full.getDescription());
    final int last = stored;
    ends(
        Status.Code.RESOURCE_EXHAUSTED,
        full.getDescription(),
        () -> stub.compareAndSet(compareAndSet("", number(last), value, 0)));
    assertTrue(stored > SHORT_MEMORY / MIB / 2, "stored=" + stored);
    for (int i = 0; i < stored; i++) {
      assertTrue(stub.get(get("", number(i))).hasEntry(), "key " + i);
    }
    assertTrue(stub.delete(delete("", number(0))).getExisted());
    assertTrue(stub.put(put("", number(0), value)).getCreated());
  }

  private static ByteString number(int number) {
    return ByteString.copyFromUtf8(Integer.toString(number));
  }

  @Test
  void numberOfIndexesIsBounded() {
    // What creates none does not count.
    for (int i = 0; i < 2 * Indexes.MAX_INDEXES; i++) {
      final String name = "not created " + i;
      assertFalse(stub.get(get(name, KEY)).hasEntry());
      assertFalse(stub.delete(delete(name, KEY)).getExisted());
      assertFalse(stub.compareAndSet(compareAndSet(name, KEY, VALUE, 1)).getApplied());
    }
    for (int i = 1; i < Indexes.MAX_INDEXES; i++) {
      assertTrue(stub.put(put("index " + i, KEY, VALUE)).getCreated());
    }
    final String description = "too many indexes: limit=1024";
    final Status.Code code = Status.Code.RESOURCE_EXHAUSTED;
    ends(code, description, () -> stub.put(put("more", KEY, VALUE)));
    ends(code, description, () -> stub.compareAndSet(compareAndSet("more", KEY, VALUE, 0)));
    assertFalse(stub.get(get("more", KEY)).hasEntry());
    assertTrue(stub.get(get("index 7", KEY)).hasEntry());
    assertTrue(stub.put(put("", KEY, VALUE)).getCreated());
  }

  private static void isInvalid(String description, Executable call) {
    ends(Status.Code.INVALID_ARGUMENT, description, call);
  }

  private static void ends(Status.Code code, String description, Executable call) {
    final Status status = assertThrows(StatusRuntimeException.class, call).getStatus();
    assertEquals(code, status.getCode());
    assertEquals(description, status.getDescription());
  }

  private static ByteString zeros(int count) {
    return ByteString.copyFrom(new byte[count]);
  }

  private static GetRequest get(String index, ByteString key) {
    return GetRequest.newBuilder().setIndex(index).setKey(key).build();
  }

  private static BatchGetRequest batchGet(String index, ByteString... keys) {
    return BatchGetRequest.newBuilder().setIndex(index).addAllKeys(List.of(keys)).build();
  }

  private static PutRequest put(String index, ByteString key, ByteString value) {
    return PutRequest.newBuilder().setIndex(index).setKey(key).setValue(value).build();
  }

  private static DeleteRequest delete(String index, ByteString key) {
    return DeleteRequest.newBuilder().setIndex(index).setKey(key).build();
  }

  private static CompareAndSetRequest compareAndSet(
      String index, ByteString key, ByteString value, long expected) {
    return CompareAndSetRequest.newBuilder()
        .setIndex(index)
        .setKey(key)
        .setValue(value)
        .setExpectedVersion(expected)
        .build();
  }
}
