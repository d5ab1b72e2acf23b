package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Indexes are created, dropped and listed. */
class IndexAdminServiceTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");

  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  @BeforeEach
  void start() throws IOException {
    server = LocalServer.start();
    index = IndexGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
    admin =
        IndexAdminGrpc.newBlockingStub(server.channel()).withDeadlineAfter(60, TimeUnit.SECONDS);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void createdIndexIsThereWithoutEntries() {
    final CreateIndexResponse created = create("a", IndexKind.HASH);
    assertTrue(created.getCreated());
    assertNotEquals(0, created.getIncarnation());
    final CreateIndexResponse again = create("a", IndexKind.INDEX_KIND_UNSPECIFIED);
    assertFalse(again.getCreated());
    assertEquals(created.getIncarnation(), again.getIncarnation());
    assertFalse(create("", IndexKind.HASH).getCreated(), "the default one is there");
    assertEquals(
        created.getIncarnation(),
        index.count(CountRequest.newBuilder().setIndex("a").build()).getIncarnation());
  }

  @Test
  void kindOfALaterVersionIsNotServed() {
    final CreateIndexRequest later =
        CreateIndexRequest.newBuilder().setIndex("a").setKindValue(77).build();
    final StatusRuntimeException refused =
        assertThrows(StatusRuntimeException.class, () -> admin.createIndex(later));
    assertEquals(Status.Code.UNIMPLEMENTED, refused.getStatus().getCode());
  }

  @Test
  void nameHasAtMost255Bytes() {
    final StatusRuntimeException refused =
        assertThrows(StatusRuntimeException.class, () -> create("x".repeat(256), IndexKind.HASH));
    assertEquals(Status.Code.INVALID_ARGUMENT, refused.getStatus().getCode());
    assertTrue(create("x".repeat(255), IndexKind.HASH).getCreated());
  }

  @Test
  void droppedIndexIsGoneAndReturnsEmptyWithAnotherIncarnation() {
    final long first = put("a").getIncarnation();
    final DropIndexResponse dropped = drop("a");
    assertTrue(dropped.getExisted());
    assertEquals(first, dropped.getIncarnation());
    assertFalse(drop("a").getExisted());
    assertEquals(0, get("a").getIncarnation());

    assertNotEquals(first, create("a", IndexKind.HASH).getIncarnation());
    assertFalse(get("a").hasEntry());
    assertTrue(drop("").getExisted());
    assertFalse(drop("default").getExisted());
    put("");
    assertTrue(get("").hasEntry());
  }

  @Test
  void aDropOfAnIncarnationLeavesLaterOnes() {
    final long first = put("a").getIncarnation();
    assertEquals(first, drop("a", first).getIncarnation());
    assertFalse(drop("a", first).getExisted());
    final long second = put("a").getIncarnation();
    final StatusRuntimeException refused =
        assertThrows(StatusRuntimeException.class, () -> drop("a", first));
    assertEquals(Status.Code.FAILED_PRECONDITION, refused.getStatus().getCode());
    assertEquals(second, get("a").getIncarnation());
    assertTrue(get("a").hasEntry());
    assertTrue(drop("a", second).getExisted());
  }

  @Test
  void listIsInTheOrderOfTheNames() {
    put("b");
    put("a");
    create("c", IndexKind.HASH);
    drop("b");
    final List<IndexDescription> listed =
        admin.listIndexes(ListIndexesRequest.getDefaultInstance()).getIndexesList();
    assertEquals(
        List.of("a", "c", "default"), listed.stream().map(IndexDescription::getName).toList());
    assertEquals(1, listed.get(0).getEntries());
    assertEquals(0, listed.get(1).getEntries());
  }

  @Test
  void callsUnderADropAreAnsweredOrAborted() throws Exception {
    final AtomicBoolean ended = new AtomicBoolean();
    final List<Callable<Integer>> tasks = new ArrayList<>();
    tasks.add(
        () -> {
          for (int i = 0; i < 200; i++) {
            create("a", IndexKind.INDEX_KIND_UNSPECIFIED); // or a put has done it
            drop("a");
          }
          ended.set(true);
          return 0;
        });
    tasks.add(() -> callUntil(ended, () -> put("a").getVersion() > 0));
    tasks.add(
        () ->
            callUntil(
                ended,
                () -> {
                  final GetResponse found = get("a");
                  return !found.hasEntry() || found.getIncarnation() != 0;
                }));
    Crowd.run(tasks);
  }

  private static int callUntil(AtomicBoolean ended, Callable<Boolean> call) throws Exception {
    int answered = 0;
    while (!ended.get()) {
      try {
        assertTrue(call.call());
        answered++;
      } catch (StatusRuntimeException e) {
        final Status.Code code = e.getStatus().getCode(); // or it is to be sent again
        assertTrue(code == Status.Code.ABORTED || code == Status.Code.UNAVAILABLE, e::toString);
      }
    }
    return answered;
  }

  private CreateIndexResponse create(String name, IndexKind kind) {
    return admin.createIndex(CreateIndexRequest.newBuilder().setIndex(name).setKind(kind).build());
  }

  private DropIndexResponse drop(String name) {
    return drop(name, 0);
  }

  private DropIndexResponse drop(String name, long incarnation) {
    return admin.dropIndex(
        DropIndexRequest.newBuilder().setIndex(name).setIncarnation(incarnation).build());
  }

  private PutResponse put(String name) {
    return index.put(PutRequest.newBuilder().setIndex(name).setKey(KEY).setValue(KEY).build());
  }

  private GetResponse get(String name) {
    return index.get(GetRequest.newBuilder().setIndex(name).setKey(KEY).build());
  }
}
