package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
    final List<GetResponse> expected =
        List.of(get("", other), get("", absent), get("", KEY), get("", other), get("", absent));
    assertEquals(expected, response.getAnswersList());
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
