package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.layout.CounterDescriptor;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The answers and the statuses of Update, without numbers and deadlines. */
class UpdateTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString TEXT = ByteString.copyFromUtf8("a text");

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub stub;
  private String index = "";

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    stub = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private UpdateRequest.Builder request() {
    return UpdateRequest.newBuilder().setIndex(index).setKey(KEY);
  }

  private UpdateResponse increment(long delta) {
    final UpdateRequest.Builder request = request();
    request.getIncrementBuilder().setDelta(delta);
    return stub.update(request.build());
  }

  private UpdateResponse getAndSet(ByteString value) {
    final UpdateRequest.Builder request = request();
    request.getGetAndSetBuilder().setValue(value);
    return stub.update(request.build());
  }

  private UpdateResponse deleteIf(long expected) {
    final UpdateRequest.Builder request = request();
    request.getDeleteIfBuilder().setExpectedVersion(expected);
    return stub.update(request.build());
  }

  private UpdateResponse touch(long expected) {
    final UpdateRequest.Builder request = request();
    request.getTouchBuilder().setExpectedVersion(expected);
    return stub.update(request.build());
  }

  private long put(ByteString value) {
    return stub.put(PutRequest.newBuilder().setIndex(index).setKey(KEY).setValue(value).build())
        .getVersion();
  }

  private GetResponse get() {
    return stub.get(GetRequest.newBuilder().setIndex(index).setKey(KEY).build());
  }

  private static void assertRefused(Status.Code code, String text, Runnable call) {
    final Status status = assertThrows(StatusRuntimeException.class, call::run).getStatus();
    assertEquals(code, status.getCode());
    assertTrue(status.getDescription().contains(text), status.getDescription());
  }

  @ParameterizedTest
  @EnumSource(
      value = IndexKind.class,
      names = {"HASH", "ORDERED"})
  void aCounterBeginsAtZero(IndexKind kind) {
    index = kind.name();
    final var unused =
        IndexAdminGrpc.newBlockingStub(server.channel())
            .createIndex(CreateIndexRequest.newBuilder().setIndex(index).setKind(kind).build());
    long version = 0;
    long sum = 0;
    for (final long delta : new long[] {5, -7, 0, Long.MAX_VALUE, Long.MIN_VALUE, -1}) {
      final UpdateResponse answer = increment(delta);
      sum += delta;
      assertTrue(answer.getApplied());
      assertEquals(sum, answer.getCounter());
      assertTrue(answer.getVersion() > version);
      version = answer.getVersion();
      final Entry entry = get().getEntry();
      assertEquals(version, entry.getVersion());
      assertEquals(sum, CounterDescriptor.number(entry.getValue()));
    }
    final var deleted = stub.delete(DeleteRequest.newBuilder().setIndex(index).setKey(KEY).build());
    assertTrue(deleted.getExisted());
    assertEquals(-3, increment(-3).getCounter());
  }

  @Test
  void whatIsNoCounterIsNotIncremented() {
    for (final String value : new String[] {"", "1234567", "123456789"}) {
      final long version = put(ByteString.copyFromUtf8(value));
      assertRefused(
          Status.Code.FAILED_PRECONDITION,
          "no counter: length=" + value.length() + " bytes, a counter has 8",
          () -> increment(1));
      assertEquals(version, get().getEntry().getVersion());
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, Long.MAX_VALUE})
  void aCounterThatWouldOverflowStays(long delta) {
    assertEquals(Long.MAX_VALUE, increment(Long.MAX_VALUE).getCounter());
    assertRefused(Status.Code.OUT_OF_RANGE, "delta=" + delta, () -> increment(delta));
    assertEquals(-1, increment(Long.MIN_VALUE).getCounter());
    assertEquals(Long.MIN_VALUE, increment(Long.MIN_VALUE + 1).getCounter());
    assertRefused(Status.Code.OUT_OF_RANGE, "delta=-1", () -> increment(-1));
    assertEquals(Long.MIN_VALUE, increment(0).getCounter());
  }

  @Test
  void getAndSetAnswersWithWhatItReplaced() {
    final UpdateResponse created = getAndSet(TEXT);
    assertTrue(created.getApplied());
    assertFalse(created.hasPrevious());
    assertFalse(created.getPreviousGone());
    final Entry first = get().getEntry();
    assertEquals(created.getVersion(), first.getVersion());
    final UpdateResponse replaced = getAndSet(ByteString.EMPTY);
    assertEquals(first, replaced.getPrevious());
    assertTrue(replaced.getVersion() > first.getVersion());
    assertEquals(ByteString.EMPTY, get().getEntry().getValue());
  }

  @Test
  void deleteIfNeedsTheVersion() {
    final long version = put(TEXT);
    final UpdateResponse other = deleteIf(version + 1);
    assertFalse(other.getApplied());
    assertEquals(version, other.getVersion(), "the version that is there");
    assertTrue(get().hasEntry());
    final UpdateResponse deleted = deleteIf(version);
    assertTrue(deleted.getApplied());
    assertEquals(0, deleted.getVersion());
    assertFalse(get().hasEntry());
    final UpdateResponse absent = deleteIf(version);
    assertFalse(absent.getApplied());
    assertEquals(0, absent.getVersion());
    assertRefused(Status.Code.INVALID_ARGUMENT, "expected_version", () -> deleteIf(0));
  }

  @Test
  void touchKeepsTheValueAndChangesTheVersion() {
    assertFalse(touch(0).getApplied());
    final long version = put(TEXT);
    final UpdateResponse other = touch(version + 1);
    assertFalse(other.getApplied());
    assertEquals(version, other.getVersion());
    final UpdateResponse touched = touch(version);
    assertTrue(touched.getApplied());
    assertTrue(touched.getVersion() > version);
    assertEquals(touched.getVersion(), get().getEntry().getVersion());
    assertEquals(TEXT, get().getEntry().getValue());
    assertTrue(touch(0).getVersion() > touched.getVersion());
  }

  @Test
  void whatWritesNoNewEntryCreatesNoIndex() {
    index = "absent";
    assertEquals(UpdateResponse.getDefaultInstance(), deleteIf(1));
    assertEquals(UpdateResponse.getDefaultInstance(), touch(0));
    assertEquals(0, get().getIncarnation());
    assertEquals(1, increment(1).getCounter());
    assertTrue(get().hasEntry(), "it was created");
    final var dropped =
        IndexAdminGrpc.newBlockingStub(server.channel())
            .dropIndex(DropIndexRequest.newBuilder().setIndex(index).build());
    assertTrue(dropped.getExisted());
    assertFalse(getAndSet(TEXT).hasPrevious());
    assertTrue(get().hasEntry(), "it was created again");
  }

  @Test
  void wrongRequestsAreRefused() {
    final UpdateRequest.Builder long1 = request();
    long1.getGetAndSetBuilder().setValue(ByteString.copyFrom(new byte[(1 << 20) + 1]));
    assertRefused(Status.Code.INVALID_ARGUMENT, "1048576", () -> stub.update(long1.build()));
    final UpdateRequest.Builder keyless = request().setKey(ByteString.EMPTY);
    keyless.getIncrementBuilder().setDelta(1);
    assertRefused(Status.Code.INVALID_ARGUMENT, "key is empty", () -> stub.update(keyless.build()));
    final UpdateRequest.Builder both = request();
    both.getTouchBuilder().setTtlMs(1).setDeadlineMs(1);
    assertRefused(Status.Code.INVALID_ARGUMENT, "ttl_ms", () -> stub.update(both.build()));
    final long beyond = System.currentTimeMillis() + 3651L * 24 * 3600 * 1000;
    for (final long deadline : new long[] {beyond, -1}) {
      final UpdateRequest.Builder late = request();
      late.getTouchBuilder().setDeadlineMs(deadline);
      assertRefused(
          Status.Code.INVALID_ARGUMENT,
          "deadline_ms=" + Long.toUnsignedString(deadline),
          () -> stub.update(late.build()));
    }
    for (final boolean counts : new boolean[] {true, false}) {
      final UpdateRequest.Builder ttl = request();
      if (counts) {
        ttl.getIncrementBuilder().setTtlMs(-1);
      } else {
        ttl.getTouchBuilder().setTtlMs(-1);
      }
      assertRefused(Status.Code.INVALID_ARGUMENT, "ttl", () -> stub.update(ttl.build()));
    }
    assertRefused(
        Status.Code.UNIMPLEMENTED, "change is missing", () -> stub.update(request().build()));
    assertFalse(get().hasEntry());
  }
}
