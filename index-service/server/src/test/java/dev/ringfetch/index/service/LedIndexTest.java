package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.Leadership;
import dev.ringfetch.index.journal.IndexDefinition;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.SnapshotRecords;
import dev.ringfetch.index.log.GroupLog;
import dev.ringfetch.index.log.GroupStoreException;
import dev.ringfetch.index.node.CatchUp;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.partition.CommitLog;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.ListIndexesResponse;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.Trailers;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import dev.ringfetch.index.v1.WatchRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls for an index of a cluster, at the node that leads it and at others; the log is made up. */
@Timeout(60)
final class LedIndexTest {
  private static final String NAME = "led";
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");

  private final Queue<Leadership.Told> asked = new ArrayDeque<>();
  private final List<GroupLog.Ended> appended = new CopyOnWriteArrayList<>();
  private final Indexes indexes = Indexes.unrecovered(IndexMemory.ofProcess(64L << 20));
  private final IndexService service = new IndexService(indexes);
  private boolean confirms; // at once
  private boolean alone;
  private ReplicatedIndex led = led(false);

  private ReplicatedIndex led(boolean isOnly) {
    return new ReplicatedIndex(
        indexes,
        told -> {
          if (confirms) {
            told.onConfirmed(true);
          } else {
            asked.add(told);
          }
        },
        grant -> {},
        null,
        isOnly);
  }

  /** Where the index is led, while this node does not. */
  private static final class Elsewhere implements IndexCatalog {
    private final List<String> created = new ArrayList<>();
    private final Queue<Created> creation = new ArrayDeque<>();
    private final BlockingQueue<Synced> synced = new LinkedBlockingQueue<>();
    private volatile boolean knows = true;
    private boolean fails;

    @Override
    public boolean isOfCluster() {
      return true;
    }

    @Override
    public boolean isNode(SSLSession caller) {
      return false;
    }

    @Override
    public void checkElsewhere(String name) throws StatusException {
      if (knows && name.equals(NAME)) {
        final Metadata trailers = new Metadata();
        trailers.put(Trailers.LEADER, "other:1");
        throw Status.FAILED_PRECONDITION.asException(trailers);
      }
    }

    @Override
    public void sync(Synced told) {
      synced.add(told);
    }

    @Override
    public void create(CreateIndexRequest wanted, Created told) {
      created.add(wanted.getIndex());
      creation.add(told);
    }

    @Override
    public void recover(RecoverIndexRequest request, Recovered recovered) {
      throw new AssertionError();
    }

    @Override
    public void drop(String name, long incarnation, Created told) {
      told.onEnd(0, false, null);
    }

    @Override
    public List<String> addresses() {
      return List.of("self:1", "other:1");
    }

    @Override
    public List<IndexDescription> ledElsewhere() {
      if (fails) {
        throw new IllegalStateException("a failure of a test");
      }
      return knows ? List.of(IndexDescription.newBuilder().setName(NAME).build()) : List.of();
    }

    @Override
    public DescribeClusterResponse describe() {
      return DescribeClusterResponse.getDefaultInstance();
    }
  }

  private final Elsewhere elsewhere = new Elsewhere();

  /** A log whose records are committed at once, but for those of clients. */
  private final class MadeUpLog implements GroupLog {
    @Override
    public CommitLog partition(int partition, long last) {
      return new ImmediateLog(last);
    }

    @Override
    public boolean append(int type, long client, long request, Ended ended) {
      appended.add(ended);
      return true;
    }

    @Override
    public boolean isAlone() {
      return alone;
    }
  }

  private void lead(IndexKind kind) throws Exception {
    lead(kind, 0);
  }

  /** Leads; there is an entry with a deadline, unless that is 0. */
  private void lead(IndexKind kind, long deadlineMs) throws Exception {
    serve();
    beginToLead(kind, deadlineMs);
  }

  private void serve() throws Exception {
    indexes.join(elsewhere);
    indexes.recoverAndServe();
  }

  private void beginToLead(IndexKind kind, long deadlineMs) throws Exception {
    final GroupState state =
        GroupState.newBuilder()
            .setGroup(7)
            .setIndex(NAME)
            .setDefinition(
                new IndexDefinition(kind, Durability.MEMORY, kind == IndexKind.HASH ? 4 : 1, 5, 77)
                    .encoded())
            .build();
    led.clear(state);
    if (deadlineMs != 0) {
      restore(deadlineMs);
    }
    led.lead(new MadeUpLog(), state);
  }

  private void restore(long deadlineMs) throws Exception {
    final SnapshotRecords records =
        new SnapshotRecords(1) {
          @Override
          protected void add(byte[] array, int recordLength) throws IOException {
            final JournalRecord record = new JournalRecord();
            assertTrue(record.wrap(array, 0, recordLength));
            try {
              led.restore(record);
            } catch (GroupStoreException e) {
              throw new IOException(e);
            }
          }

          @Override
          public boolean isFull() {
            return false;
          }
        };
    records.partition(7, 0, 3, deadlineMs - 1);
    records.put(
        7,
        0,
        Entry.newBuilder()
            .setKey(KEY)
            .setValue(VALUE)
            .setVersion(3)
            .setDeadlineMs(deadlineMs)
            .build());
  }

  /** What came of a call. */
  private static final class Answer<T> extends ServerCallStreamObserver<T> {
    private T response;
    private Throwable failure;
    private boolean ended;

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void setOnCancelHandler(Runnable handler) {}

    @Override
    public void setOnReadyHandler(Runnable handler) {}

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setCompression(String compression) {}

    @Override
    public void disableAutoInboundFlowControl() {}

    @Override
    public void request(int count) {}

    @Override
    public void setMessageCompression(boolean enable) {}

    @Override
    public void onNext(T next) {
      response = next;
    }

    @Override
    public void onError(Throwable error) {
      failure = error;
      ended = true;
    }

    @Override
    public void onCompleted() {
      ended = true;
    }

    Status.Code code() {
      return failure == null ? Status.Code.OK : Status.fromThrowable(failure).getCode();
    }
  }

  private static <R, T> Answer<T> call(BiConsumer<R, StreamObserver<T>> method, R request) {
    final Answer<T> answer = new Answer<>();
    method.accept(request, answer);
    return answer;
  }

  private Answer<PutResponse> put(RequestNumber number) {
    final PutRequest.Builder request =
        PutRequest.newBuilder().setIndex(NAME).setKey(KEY).setValue(VALUE);
    return call(service::put, (number == null ? request : request.setNumber(number)).build());
  }

  private Answer<GetResponse> get() {
    return call(service::get, GetRequest.newBuilder().setIndex(NAME).setKey(KEY).build());
  }

  private Map<String, Consumer<Answer<Object>>> readings() {
    return Map.of(
        "get",
        answer ->
            service.get(GetRequest.newBuilder().setIndex(NAME).setKey(KEY).build(), passed(answer)),
        "batchGet",
        answer ->
            service.batchGet(
                BatchGetRequest.newBuilder().setIndex(NAME).addKeys(KEY).build(), passed(answer)),
        "count",
        answer -> service.count(CountRequest.newBuilder().setIndex(NAME).build(), passed(answer)),
        "describe",
        answer ->
            service.describe(DescribeRequest.newBuilder().setIndex(NAME).build(), passed(answer)));
  }

  @SuppressWarnings("unchecked")
  private static <T> StreamObserver<T> passed(Answer<Object> answer) {
    return (StreamObserver<T>) answer;
  }

  @Test
  void readsWaitForTheBarrier() throws Exception {
    lead(IndexKind.ORDERED);
    assertEquals(Status.Code.OK, put(null).code());
    readings()
        .forEach(
            (name, reading) -> {
              final Answer<Object> answer = new Answer<>();
              reading.accept(answer);
              assertFalse(answer.ended, name);
              assertEquals(1, asked.size(), name);
              asked.remove().onConfirmed(true);
              assertEquals(Status.Code.OK, answer.code(), name);
              assertTrue(answer.ended && answer.response != null, name);
            });
  }

  @Test
  void nobodyIsAskedWhereThereIsNoOtherMember() throws Exception {
    alone = true;
    lead(IndexKind.ORDERED);
    assertEquals(Status.Code.OK, put(null).code());
    final Map<String, Consumer<Answer<Object>>> calls = new HashMap<>(readings());
    calls.put(
        "delete",
        answer ->
            service.delete(
                DeleteRequest.newBuilder().setIndex(NAME).setKey(VALUE).build(), passed(answer)));
    calls.forEach(
        (name, call) -> {
          final Answer<Object> answer = new Answer<>();
          call.accept(answer);
          assertEquals(Status.Code.OK, answer.code(), name);
          assertTrue(asked.isEmpty(), name);
        });
    alone = false;
    final Answer<GetResponse> answer = get();
    assertFalse(answer.ended);
    asked.remove().onConfirmed(true);
    assertTrue(answer.response.hasEntry());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true}) // moved to another node, or dropped
  void noReadIsAnsweredByANodeThatLeadsNoMore(boolean isOnly) throws Exception {
    led = led(isOnly);
    lead(IndexKind.ORDERED);
    readings()
        .forEach(
            (name, reading) -> {
              final Answer<Object> answer = new Answer<>();
              reading.accept(answer);
              asked.remove().onConfirmed(false);
              assertEquals(Status.Code.UNAVAILABLE, answer.code(), name);
              assertNull(answer.response, name);
            });
  }

  @Test
  void anAnswerWithoutARecordWaitsForTheBarrier() throws Exception {
    lead(IndexKind.HASH);
    for (final boolean leads : new boolean[] {true, false}) {
      final Answer<DeleteResponse> deleted =
          call(service::delete, DeleteRequest.newBuilder().setIndex(NAME).setKey(KEY).build());
      final Answer<CompareAndSetResponse> compared =
          call(
              service::compareAndSet,
              CompareAndSetRequest.newBuilder()
                  .setIndex(NAME)
                  .setKey(KEY)
                  .setExpectedVersion(5)
                  .build());
      final Answer<UpdateResponse> touched =
          call(service::update, update(KEY, request -> request.getTouchBuilder()));
      for (final Answer<?> answer : List.of(deleted, compared, touched)) {
        assertFalse(answer.ended);
        asked.remove().onConfirmed(leads);
        assertEquals(leads ? Status.Code.OK : Status.Code.UNAVAILABLE, answer.code());
        assertEquals(leads, answer.response != null);
      }
    }
    assertEquals(Status.Code.OK, put(null).code()); // its record was committed
    assertTrue(asked.isEmpty());
    for (final boolean leads : new boolean[] {true, false}) {
      final Answer<UpdateResponse> counted =
          call(service::update, update(KEY, request -> request.getIncrementBuilder().setDelta(1)));
      assertFalse(counted.ended, "another value may be there");
      asked.remove().onConfirmed(leads);
      assertEquals(
          leads ? Status.Code.FAILED_PRECONDITION : Status.Code.UNAVAILABLE, counted.code());
    }
    final Answer<UpdateResponse> replaced =
        call(service::update, update(KEY, request -> request.getGetAndSetBuilder()));
    assertEquals(VALUE, replaced.response.getPrevious().getValue());
    assertTrue(asked.isEmpty());
  }

  private static UpdateRequest update(ByteString key, Consumer<UpdateRequest.Builder> change) {
    final UpdateRequest.Builder request = UpdateRequest.newBuilder().setIndex(NAME).setKey(key);
    change.accept(request);
    return request.build();
  }

  @Test
  void anEntryEndsAtANewLeaderThatNobodyWritesTo() throws Exception {
    lead(IndexKind.ORDERED, System.currentTimeMillis() + 50);
    final long endNs = System.nanoTime() + 20_000_000_000L;
    boolean found = true;
    while (found) {
      assertTrue(System.nanoTime() - endNs < 0);
      final Answer<GetResponse> answer = get();
      asked.remove().onConfirmed(true);
      found = answer.response.hasEntry();
    }
  }

  @Test
  void aReadThatWasConfirmedFindsNothingInAStoreThatWasGivenUp() throws Exception {
    lead(IndexKind.HASH);
    assertEquals(Status.Code.OK, put(null).code());
    final Answer<GetResponse> answer = get();
    led.follow();
    asked.remove().onConfirmed(true);
    assertTrue(answer.ended);
    assertNotEquals(Status.Code.OK, answer.code());
  }

  @Test
  void otherNodesNameTheLeader() throws Exception {
    lead(IndexKind.HASH);
    led.follow();
    for (final Answer<?> answer : List.of(get(), put(null))) {
      assertEquals(Status.Code.FAILED_PRECONDITION, answer.code());
      assertEquals("other:1", Status.trailersFromThrowable(answer.failure).get(Trailers.LEADER));
    }
  }

  /** Calls whose answers say that there is no index, by name, with what says so. */
  private Map<String, Consumer<Answer<Object>>> askings() {
    final Map<String, Consumer<Answer<Object>>> askings = new HashMap<>(readings());
    askings.put(
        "delete",
        answer ->
            service.delete(
                DeleteRequest.newBuilder().setIndex(NAME).setKey(KEY).build(), passed(answer)));
    askings.put(
        "compareAndSet",
        answer ->
            service.compareAndSet(
                CompareAndSetRequest.newBuilder()
                    .setIndex(NAME)
                    .setKey(KEY)
                    .setExpectedVersion(5)
                    .build(),
                passed(answer)));
    askings.put(
        "update",
        answer ->
            service.update(
                update(KEY, request -> request.getDeleteIfBuilder().setExpectedVersion(5)),
                passed(answer)));
    askings.put(
        "scan",
        answer -> service.scan(ScanRequest.newBuilder().setIndex(NAME).build(), passed(answer)));
    askings.put(
        "scanPage",
        answer ->
            service.scanPage(ScanRequest.newBuilder().setIndex(NAME).build(), passed(answer)));
    askings.put(
        "deleteRange",
        answer ->
            service.deleteRange(
                DeleteRangeRequest.newBuilder().setIndex(NAME).build(), passed(answer)));
    askings.put(
        "count of a range",
        answer ->
            service.count(
                CountRequest.newBuilder()
                    .setIndex(NAME)
                    .setRange(KeyRange.newBuilder().setStart(KEY))
                    .build(),
                passed(answer)));
    askings.put(
        "closeClient",
        answer ->
            service.closeClient(
                CloseClientRequest.newBuilder().setIndex(NAME).setClient(5).build(),
                passed(answer)));
    askings.put(
        "watch",
        answer -> service.watch(WatchRequest.newBuilder().setIndex(NAME).build(), passed(answer)));
    askings.put(
        "list",
        answer ->
            new IndexAdminService(indexes)
                .listIndexes(ListIndexesRequest.getDefaultInstance(), passed(answer)));
    return askings;
  }

  @Test
  void aNodeThatDoesNotKnowOfAnIndexAsksTheCoordinatorBeforeItSaysSo() throws Exception {
    lead(IndexKind.ORDERED);
    led.follow();
    askings()
        .forEach(
            (name, asking) -> {
              elsewhere.knows = false;
              final Answer<Object> answer = new Answer<>();
              asking.accept(answer);
              assertFalse(answer.ended, name);
              elsewhere.knows = true;
              elsewhere.synced.remove().onEnd(null);
              if (name.equals("list")) {
                assertEquals(List.of(NAME), names(answer.response));
              } else {
                assertEquals(Status.Code.FAILED_PRECONDITION, answer.code(), name);
              }
            });
  }

  private static List<String> names(Object list) {
    return ((ListIndexesResponse) list)
        .getIndexesList().stream().map(IndexDescription::getName).toList();
  }

  @Test
  void anIndexThatTheCoordinatorDoesNotHaveIsAnAnswer() throws Exception {
    lead(IndexKind.ORDERED);
    led.follow();
    elsewhere.knows = false;
    askings()
        .forEach(
            (name, asking) -> {
              final Answer<Object> answer = new Answer<>();
              asking.accept(answer);
              assertFalse(answer.ended, name);
              elsewhere.synced.remove().onEnd(null);
              assertTrue(answer.ended, name);
              assertEquals(
                  name.equals("watch") ? Status.Code.NOT_FOUND : Status.Code.OK,
                  answer.code(),
                  name);
            });
  }

  @Test
  void whatTheCoordinatorDoesNotAnswerIsNoAnswer() throws Exception {
    lead(IndexKind.ORDERED);
    led.follow();
    elsewhere.knows = false;
    askings()
        .forEach(
            (name, asking) -> {
              final Answer<Object> answer = new Answer<>();
              asking.accept(answer);
              elsewhere.synced.remove().onEnd(Status.UNAVAILABLE.asException());
              assertEquals(Status.Code.UNAVAILABLE, answer.code(), name);
              assertNull(answer.response, name);
            });
  }

  @Test
  void aStepThatFailsAfterTheCatchUpEndsItsCall() throws Exception {
    serve();
    elsewhere.fails = true;
    final Answer<ListIndexesResponse> list =
        call(new IndexAdminService(indexes)::listIndexes, ListIndexesRequest.getDefaultInstance());
    elsewhere.synced.remove().onEnd(null);
    assertEquals(Status.Code.INTERNAL, list.code());
  }

  /** The catch-up that a call waits for at the server whose only thread this is. */
  private CatchUp.Synced awaited(ExecutorService thread) throws Exception {
    final CatchUp.Synced told = elsewhere.synced.poll(30, TimeUnit.SECONDS);
    assertNotNull(told, "the call does not wait");
    thread.submit(() -> {}).get(30, TimeUnit.SECONDS); // the service's method has returned
    return told;
  }

  @Test
  void callsThatHaveWaitedForTheCoordinatorGoOnAsOthersDo() throws Exception {
    serve();
    confirms = true;
    elsewhere.knows = false;
    final ExecutorService thread = Executors.newSingleThreadExecutor();
    final Server server =
        ServerBuilder.forPort(0).executor(thread).addService(service).build().start();
    final ManagedChannel channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    try {
      final IndexGrpc.IndexBlockingStub stub =
          IndexGrpc.newBlockingStub(channel).withDeadlineAfter(50, TimeUnit.SECONDS);
      final IndexGrpc.IndexFutureStub futures =
          IndexGrpc.newFutureStub(channel).withDeadlineAfter(50, TimeUnit.SECONDS);
      final List<CatchUp.Synced> told = new ArrayList<>();
      final WatchRequest watchRequest = WatchRequest.newBuilder().setIndex(NAME).build();
      final WatchStream watch = new WatchStream(channel, watchRequest);
      told.add(awaited(thread));
      final WatchStream cancelled = new WatchStream(channel, watchRequest);
      told.add(awaited(thread));
      cancelled.cancel();
      final ScanRequest.Builder request = ScanRequest.newBuilder().setIndex(NAME);
      final Iterator<ScanResponse> scan = stub.scan(request.build());
      told.add(awaited(thread));
      final Iterator<ScanResponse> snapshot = stub.scan(request.setSnapshot(true).build());
      told.add(awaited(thread));
      final KeyRange range = KeyRange.newBuilder().setStart(KEY).build();
      final Future<CountResponse> count =
          futures.count(CountRequest.newBuilder().setIndex(NAME).setRange(range).build());
      told.add(awaited(thread));
      final Future<DeleteRangeResponse> removal =
          futures.deleteRange(DeleteRangeRequest.newBuilder().setIndex(NAME).build());
      final CatchUp.Synced removalTold = awaited(thread);

      beginToLead(IndexKind.ORDERED, 0);
      assertEquals(Status.Code.OK, put(null).code());
      for (final CatchUp.Synced next : told) {
        next.onEnd(null);
      }
      watch.next();
      assertEquals(KEY, scan.next().getEntries(0).getKey());
      assertFalse(scan.hasNext());
      assertEquals(KEY, snapshot.next().getEntries(0).getKey());
      assertFalse(snapshot.hasNext());
      assertEquals(1, count.get(30, TimeUnit.SECONDS).getEntries());
      removalTold.onEnd(null);
      assertEquals(1, removal.get(30, TimeUnit.SECONDS).getRemoved());
      watch.cancel();
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (indexes.watches().open() != 0) {
        assertTrue(System.nanoTime() - endNs < 0, "a watch that was cancelled stays");
        Thread.sleep(1);
      }
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
      thread.shutdown();
    }
  }

  @Test
  void aWriteToAnUnknownIndexWaitsForItsCreation() throws Exception {
    serve();
    elsewhere.knows = false;
    final Answer<PutResponse> answer = put(null);
    elsewhere.synced.remove().onEnd(null);
    assertEquals(List.of(NAME), elsewhere.created);
    assertFalse(answer.ended);
    beginToLead(IndexKind.HASH, 0);
    elsewhere.creation.remove().onEnd(5, true, null);
    assertEquals(Status.Code.OK, answer.code());
    assertTrue(answer.response.getCreated());
  }

  @Test
  void aWriteThatCannotCreateItsIndexSaysWhy() throws Exception {
    serve();
    elsewhere.knows = false;
    for (final boolean isDropped : new boolean[] {true, false}) { // at once, or not created
      final Answer<PutResponse> answer = put(null);
      elsewhere.synced.remove().onEnd(null);
      elsewhere
          .creation
          .remove()
          .onEnd(5, isDropped, isDropped ? null : Status.RESOURCE_EXHAUSTED.asException());
      assertEquals(
          isDropped ? Status.Code.UNAVAILABLE : Status.Code.RESOURCE_EXHAUSTED, answer.code());
    }
  }

  @Test
  void aNumberIsGivenWhenItsRecordIsCommittedAndCountsForOneIndex() throws Exception {
    lead(IndexKind.HASH);
    final Answer<OpenClientResponse> opened =
        call(service::openClient, OpenClientRequest.newBuilder().setIndex(NAME).build());
    while (appended.isEmpty()) {
      Thread.onSpinWait();
    }
    assertFalse(opened.ended);
    appended.get(0).onEnded(true);
    assertTrue(opened.ended);
    assertEquals(List.of("self:1", "other:1"), opened.response.getNodesList());
    final RequestNumber number =
        RequestNumber.newBuilder()
            .setClient(opened.response.getClient())
            .setNumber(1)
            .setFirstIncomplete(1)
            .build();
    final long version = put(number).response.getVersion();
    assertEquals(version, put(number).response.getVersion()); // once, not twice
    assertNotNull(indexes.find(NAME).leadership().clients().find(opened.response.getClient()));
  }
}
