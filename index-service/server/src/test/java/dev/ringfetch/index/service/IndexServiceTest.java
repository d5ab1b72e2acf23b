package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.Status;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the service answers; its error statuses are in {@link IndexServiceLimitsTest}. */
class IndexServiceTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString ONE = ByteString.copyFromUtf8("one");
  private static final ByteString TWO = ByteString.copyFromUtf8("two");

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
  void absenceIsAnAnswer() {
    assertFalse(get("", KEY).hasEntry());
    assertFalse(get("unknown", KEY).hasEntry());
    assertFalse(delete("", KEY));
    assertFalse(delete("unknown", KEY));
  }

  @Test
  void putIsRead() {
    final PutResponse created = put("", KEY, ONE);
    assertTrue(created.getCreated());
    assertEquals(entry(ONE, created.getVersion()), get("", KEY).getEntry());

    final PutResponse replaced = put("", KEY, TWO);
    assertFalse(replaced.getCreated());
    assertTrue(replaced.getVersion() > created.getVersion());
    assertEquals(entry(TWO, replaced.getVersion()), get("", KEY).getEntry());
  }

  @Test
  void deleteSaysWhetherThereWasAnEntry() {
    put("", KEY, ONE);
    assertTrue(delete("", KEY));
    assertFalse(delete("", KEY));
    assertFalse(get("", KEY).hasEntry());
  }

  @Test
  void emptyValueIsAnEntry() {
    put("", KEY, ByteString.EMPTY);
    assertTrue(get("", KEY).hasEntry());
    assertEquals(ByteString.EMPTY, get("", KEY).getEntry().getValue());
  }

  @Test
  void wonComparisonWrites() {
    final CompareAndSetResponse inserted = compareAndSet("", 0, ONE);
    assertTrue(inserted.getApplied());
    assertEquals(inserted.getEntry(), get("", KEY).getEntry());

    final CompareAndSetResponse replaced = compareAndSet("", inserted.getEntry().getVersion(), TWO);
    assertTrue(replaced.getApplied());
    assertEquals(TWO, replaced.getEntry().getValue());
    assertEquals(replaced.getEntry(), get("", KEY).getEntry());
  }

  @Test
  void lostComparisonIsAnAnswerWithWhatIsThere() {
    final long version = put("", KEY, ONE).getVersion();
    final long highestUnsigned = -1;
    for (final long expected : new long[] {0, version + 1, highestUnsigned}) {
      final CompareAndSetResponse lost = compareAndSet("", expected, TWO);
      assertFalse(lost.getApplied());
      assertEquals(entry(ONE, version), lost.getEntry());
    }
  }

  @Test
  void lostComparisonWithAbsenceHasNoEntry() {
    for (final String index : List.of("", "unknown")) {
      final CompareAndSetResponse lost = compareAndSet(index, 7, ONE);
      assertFalse(lost.getApplied());
      assertFalse(lost.hasEntry());
      assertFalse(get(index, KEY).hasEntry());
    }
  }

  @Test
  void indexesAreApart() {
    put("a", KEY, ONE);
    assertFalse(get("", KEY).hasEntry());
    assertFalse(get("b", KEY).hasEntry());
    assertTrue(compareAndSet("b", 0, TWO).getApplied());
    assertEquals(ONE, get("a", KEY).getEntry().getValue());
    assertEquals(TWO, get("b", KEY).getEntry().getValue());
  }

  @Test
  void emptyNameIsTheDefaultIndex() {
    put("", KEY, ONE);
    assertEquals(ONE, get("default", KEY).getEntry().getValue());
    assertTrue(delete("default", KEY));
    assertFalse(get("", KEY).hasEntry());
  }

  @Test
  void batchAnswersInTheOrderOfTheKeys() {
    final ByteString absent = ByteString.copyFromUtf8("absent");
    final ByteString other = ByteString.copyFromUtf8("other");
    put("", KEY, ONE);
    put("", other, TWO);
    final BatchGetResponse response = batchGet("", other, absent, KEY, other, absent);
    final List<Entry> expected =
        Stream.of(other, absent, KEY, other, absent).map(key -> get("", key).getEntry()).toList();
    assertEquals(expected, response.getAnswersList().stream().map(GetResponse::getEntry).toList());
    assertEquals(TWO, response.getAnswers(0).getEntry().getValue());
    assertFalse(response.getAnswers(1).hasEntry());
  }

  @Test
  void batchOfNothingAndBatchOfAnUnknownIndex() {
    assertEquals(0, batchGet("").getAnswersCount());
    final BatchGetResponse absent = batchGet("unknown", KEY, KEY);
    assertEquals(List.of(absent.getAnswers(0), absent.getAnswers(0)), absent.getAnswersList());
    assertFalse(absent.getAnswers(0).hasEntry());
  }

  @Test
  void batchOfPutsHasAnOutcomeForEach() {
    final long before = put("", KEY, ONE).getVersion();
    final ByteString other = ByteString.copyFromUtf8("other");
    final ByteString tooLong = ByteString.copyFrom(new byte[1025]);
    final BatchPutResponse response =
        stub.batchPut(
            BatchPutRequest.newBuilder()
                .addEntries(PutEntry.newBuilder().setKey(KEY).setValue(TWO))
                .addEntries(PutEntry.newBuilder().setKey(tooLong).setValue(ONE))
                .addEntries(PutEntry.newBuilder().setKey(other).setValue(ONE))
                .addEntries(PutEntry.newBuilder().setKey(other).setValue(TWO))
                .build());
    assertEquals(4, response.getOutcomesCount());
    final PutOutcome replaced = response.getOutcomes(0);
    assertFalse(replaced.getCreated());
    assertTrue(replaced.getVersion() > before);
    assertEquals(entry(TWO, replaced.getVersion()), get("", KEY).getEntry());

    final PutOutcome refused = response.getOutcomes(1);
    assertEquals(Status.Code.INVALID_ARGUMENT.value(), refused.getCode());
    assertEquals("key is too long: size=1025 limit=1024 bytes", refused.getDescription());
    assertEquals(0, refused.getVersion());

    assertTrue(response.getOutcomes(2).getCreated());
    assertFalse(response.getOutcomes(3).getCreated(), "of equal keys the later one comes later");
    assertEquals(TWO, get("", other).getEntry().getValue());
    assertEquals(response.getOutcomes(3).getVersion(), get("", other).getEntry().getVersion());
    assertEquals(0, stub.batchPut(BatchPutRequest.getDefaultInstance()).getOutcomesCount());
  }

  @Test
  void countIsOfOneIndex() {
    assertEquals(0, count(""));
    assertEquals(0, count("unknown"));
    for (int i = 0; i < 100; i++) {
      put("", ByteString.copyFromUtf8("key" + i), ONE);
      put("", ByteString.copyFromUtf8("key" + i), TWO);
    }
    put("a", KEY, ONE);
    assertEquals(100, count(""));
    assertEquals(1, count("a"));
    delete("a", KEY);
    delete("a", KEY);
    assertEquals(0, count("a"));
  }

  private long count(String index) {
    return stub.count(CountRequest.newBuilder().setIndex(index).build()).getEntries();
  }

  @Test
  void everyAnswerNamesTheIncarnation() {
    final long incarnation = put("", KEY, ONE).getIncarnation();
    assertNotEquals(0, incarnation);
    assertEquals(incarnation, get("", KEY).getIncarnation());
    assertEquals(incarnation, get("", ONE).getIncarnation());
    assertEquals(incarnation, batchGet("", KEY, ONE).getIncarnation());
    assertEquals(0, batchGet("", KEY, ONE).getAnswers(0).getIncarnation());
    assertEquals(incarnation, compareAndSet("", 0, TWO).getIncarnation());
    assertEquals(
        incarnation, stub.delete(DeleteRequest.newBuilder().setKey(KEY).build()).getIncarnation());
    assertEquals(incarnation, stub.count(CountRequest.getDefaultInstance()).getIncarnation());
    assertEquals(incarnation, stub.batchPut(BatchPutRequest.getDefaultInstance()).getIncarnation());

    assertNotEquals(incarnation, put("a", KEY, ONE).getIncarnation());
    assertEquals(0, get("unknown", KEY).getIncarnation());
    assertEquals(0, batchGet("unknown", KEY).getIncarnation());
    assertEquals(0, compareAndSet("unknown", 7, TWO).getIncarnation());
  }

  @Test
  void descriptionNamesKindPartitionsEntriesAndMemory() {
    final long incarnation = put("a", KEY, ONE).getIncarnation();
    final IndexDescription description =
        stub.describe(DescribeRequest.newBuilder().setIndex("a").build()).getIndex();
    assertEquals("a", description.getName());
    assertEquals(IndexKind.ORDERED, description.getKind(), "as a put creates it");
    assertEquals(incarnation, description.getIncarnation());
    assertEquals(1, description.getPartitions());
    assertEquals(1, description.getEntries());
    assertEquals(LocalServer.MEMORY, description.getMemoryLimit());
    assertTrue(description.getMemoryUsed() > 0);
    assertTrue(description.getMemoryUsed() <= LocalServer.MEMORY);
    assertFalse(stub.describe(DescribeRequest.newBuilder().setIndex("b").build()).hasIndex());
    final IndexDescription first = stub.describe(DescribeRequest.getDefaultInstance()).getIndex();
    assertEquals(IndexKind.HASH, first.getKind(), "as the default index is from the start");
    assertEquals(IndexMemoryContext.PARTITIONS_DEFAULT, first.getPartitions());
  }

  private GetResponse get(String index, ByteString key) {
    return stub.get(GetRequest.newBuilder().setIndex(index).setKey(key).build());
  }

  private BatchGetResponse batchGet(String index, ByteString... keys) {
    return stub.batchGet(
        BatchGetRequest.newBuilder().setIndex(index).addAllKeys(List.of(keys)).build());
  }

  private PutResponse put(String index, ByteString key, ByteString value) {
    return stub.put(PutRequest.newBuilder().setIndex(index).setKey(key).setValue(value).build());
  }

  private boolean delete(String index, ByteString key) {
    return stub.delete(DeleteRequest.newBuilder().setIndex(index).setKey(key).build()).getExisted();
  }

  private CompareAndSetResponse compareAndSet(String index, long expected, ByteString value) {
    return stub.compareAndSet(
        CompareAndSetRequest.newBuilder()
            .setIndex(index)
            .setKey(KEY)
            .setValue(value)
            .setExpectedVersion(expected)
            .build());
  }

  private static Entry entry(ByteString value, long version) {
    return Entry.newBuilder().setKey(KEY).setValue(value).setVersion(version).build();
  }
}
