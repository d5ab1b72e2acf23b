package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.linearizability.Call.Kind;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.ManagedChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One thread's worth of operations, drawn from a seed. It works in rounds: in each, all clients
 * meet on a few keys that were not used before. So the history of a key stays short, and with it
 * the number of its open operations, each of which doubles what a checker may have to try.
 *
 * <p>Used by one thread at a time.
 */
final class Client {
  /** Few, so that about every second operation meets another on its key. */
  static final int KEYS = 6;

  /** Indexes are limited; until that number each round also meets on one that is not there yet. */
  private static final int INDEXES = 500;

  private static final int BATCH_MAX = 8;
  private static final int BATCH_PUT_MAX = 3;

  /** Longest pause between two calls of a client that outlives its servers. */
  private static final int PAUSE_NS = 4_000_000;

  /** As long, while there is no server. */
  private static final int LONG_PAUSE_NS = 20_000_000;

  private final int id;
  private final Random random;
  private final List<Route> routes;
  private final boolean direct;
  private final DirectContext context;
  private final Caller caller;
  private final DirectValue found = new DirectValue();

  /** The version last seen of each key of the round; 0: absent. */
  private final long[] seen = new long[KEYS];

  private final List<Operation> history = new ArrayList<>();
  private String index;
  private DirectReader reader; // of the index of the round; null: not opened
  private long closedReads; // direct ones of readers that are closed
  private volatile long directReads;
  private int round;
  private long writes;

  /**
   * Creates a client.
   *
   * @param id that no other client of the test has
   * @param seed of the test
   * @param routes among which it chooses anew for each call
   * @param direct whether it makes half of its reads over a ring directly
   */
  Client(int id, long seed, List<Route> routes, boolean direct) {
    this.id = id;
    this.random = new Random(seed + id);
    this.routes = routes;
    this.direct = direct;
    this.context = new DirectContext();
    this.caller = new Caller(random, false);
  }

  /** Creates a client that reads directly, and whose server is killed and followed by another. */
  Client(int id, long seed, List<Route> routes, DirectContext context) {
    this.id = id;
    this.random = new Random(seed + id);
    this.routes = routes;
    this.direct = true;
    this.context = context;
    this.caller = new Caller(random, true);
  }

  /** Makes that many calls in a round, and returns what they were. */
  List<Operation> run(int round, int calls) throws Exception {
    this.round = round;
    index = "round-" + round % INDEXES;
    createIndex(isOrdered(round) ? IndexKind.ORDERED : IndexKind.HASH);
    Arrays.fill(seen, 0);
    history.clear();
    for (int i = 0; i < calls; i++) {
      operate(route());
    }
    closeReader();
    return List.copyOf(history);
  }

  /** Whether the clients meet on an ordered index in a round. */
  static boolean isOrdered(int round) {
    return round % INDEXES % 3 == 2;
  }

  private void createIndex(IndexKind kind) {
    final CreateIndexResponse unused =
        IndexAdminGrpc.newBlockingStub(route().channel())
            .createIndex(CreateIndexRequest.newBuilder().setIndex(index).setKind(kind).build());
  }

  /**
   * Makes calls in the default index until told to end, and returns what they were. Without a
   * server it only reads: each write would stay open, and lengthen the search for an order.
   */
  List<Operation> outlive(BooleanSupplier ended) throws Exception {
    index = "";
    while (!ended.getAsBoolean()) {
      final Route route = route();
      operate(route);
      while (caller.wasUnavailable() && !ended.getAsBoolean()) {
        getDirectly(route, random.nextInt(KEYS));
        ((ManagedChannel) route.channel()).resetConnectBackoff();
        getByCall(route, random.nextInt(KEYS));
        LockSupport.parkNanos(random.nextInt(LONG_PAUSE_NS));
      }
      LockSupport.parkNanos(random.nextInt(PAUSE_NS));
    }
    closeReader();
    return List.copyOf(history);
  }

  private Route route() {
    return routes.get(random.nextInt(routes.size()));
  }

  private void operate(Route route) throws Exception {
    final int key = random.nextInt(KEYS);
    switch (random.nextInt(11)) {
      case 0, 1, 2 -> get(route, key);
      case 3, 4 -> batchGet(route);
      case 5, 6 -> put(route, key);
      case 7 -> batchPut(route);
      case 8 -> delete(route, key);
      default -> compareAndSet(route, key);
    }
  }

  private void closeReader() {
    if (reader != null) {
      closedReads += reader.directReads();
      directReads = closedReads;
      reader.close();
      reader = null;
    }
  }

  /** Reads so far that needed no call. Any thread may ask. */
  long directReads() {
    return directReads;
  }

  private boolean isDirect(Route route) {
    return direct && route.ring() && random.nextBoolean();
  }

  private void openReader(Route route) {
    if (reader == null) {
      reader = DirectReader.open(route.channel(), index, context);
    }
  }

  private void getDirectly(Route route, int key) {
    openReader(route);
    final Boolean present = caller.time(() -> reader.get(bytes(key), found));
    directReads = closedReads + reader.directReads();
    if (present != null) {
      add(route, key, Call.read(Kind.GET), answer(present, found));
    }
  }

  private void batchGetDirectly(Route route, int[] keys) {
    final DirectValue[] founds =
        Stream.generate(DirectValue::new).limit(keys.length).toArray(DirectValue[]::new);
    final boolean[] present = new boolean[keys.length];
    final List<ByteString> bytes = IntStream.of(keys).mapToObj(this::bytes).toList();
    openReader(route);
    final Boolean done =
        caller.time(
            () -> {
              reader.batchGet(bytes, founds, present);
              return true;
            });
    for (int i = 0; done != null && i < keys.length; i++) {
      add(route, keys[i], Call.read(Kind.BATCH_GET), answer(present[i], founds[i]));
    }
  }

  private static Answer answer(boolean present, DirectValue found) {
    return present
        ? new Answer(true, found.version(), Values.number(found.value()), found.incarnation())
        : new Answer(false, 0, 0, found.incarnation());
  }

  private void get(Route route, int key) throws Exception {
    if (isDirect(route)) {
      getDirectly(route, key);
    } else {
      getByCall(route, key);
    }
  }

  private void getByCall(Route route, int key) throws Exception {
    final GetRequest request = GetRequest.newBuilder().setIndex(index).setKey(bytes(key)).build();
    final GetResponse response = caller.call(route, IndexGrpc.getGetMethod(), request);
    add(
        route,
        key,
        Call.read(Kind.GET),
        response == null ? null : found(key, response, response.getIncarnation()));
  }

  private void batchGet(Route route) throws Exception {
    final int[] keys = random.ints(1 + random.nextInt(BATCH_MAX), 0, KEYS).toArray();
    if (isDirect(route)) {
      batchGetDirectly(route, keys);
      return;
    }
    final BatchGetRequest.Builder request = BatchGetRequest.newBuilder().setIndex(index);
    for (final int key : keys) {
      request.addKeys(bytes(key));
    }
    final BatchGetRequest built = request.build();
    final BatchGetResponse response = caller.call(route, IndexGrpc.getBatchGetMethod(), built);
    if (response != null && response.getAnswersCount() != keys.length) {
      throw new AssertionError(keys.length + " keys, answers: " + response);
    }
    for (int i = 0; i < keys.length; i++) {
      final Answer answer =
          response == null
              ? null
              : found(keys[i], response.getAnswers(i), response.getIncarnation());
      add(route, keys[i], Call.read(Kind.BATCH_GET), answer);
    }
  }

  private void put(Route route, int key) throws Exception {
    final long value = nextValue();
    final PutRequest request =
        PutRequest.newBuilder()
            .setIndex(index)
            .setKey(bytes(key))
            .setValue(Values.bytes(value))
            .build();
    final PutResponse response = caller.call(route, IndexGrpc.getPutMethod(), request);
    final Answer answer =
        response == null
            ? null
            : new Answer(
                response.getCreated(), response.getVersion(), 0, response.getIncarnation());
    add(route, key, Call.put(value), answer);
  }

  private void batchPut(Route route) throws Exception {
    final int[] keys =
        random.ints(0, KEYS).distinct().limit(1 + random.nextInt(BATCH_PUT_MAX)).toArray();
    final BatchPutRequest.Builder request = BatchPutRequest.newBuilder().setIndex(index);
    final long[] values = new long[keys.length];
    for (int i = 0; i < keys.length; i++) {
      values[i] = nextValue();
      request.addEntries(
          PutEntry.newBuilder().setKey(bytes(keys[i])).setValue(Values.bytes(values[i])));
    }
    final BatchPutRequest built = request.build();
    final BatchPutResponse response = caller.call(route, IndexGrpc.getBatchPutMethod(), built);
    for (int i = 0; i < keys.length; i++) {
      Answer answer = null;
      if (response != null) {
        final PutOutcome outcome = response.getOutcomes(i);
        if (outcome.getCode() != 0) {
          throw new AssertionError("an entry of a batch was not written: " + outcome);
        }
        answer =
            new Answer(outcome.getCreated(), outcome.getVersion(), 0, response.getIncarnation());
      }
      add(route, keys[i], Call.batchPut(values[i]), answer);
    }
  }

  private void delete(Route route, int key) throws Exception {
    final DeleteRequest request =
        DeleteRequest.newBuilder().setIndex(index).setKey(bytes(key)).build();
    final DeleteResponse response = caller.call(route, IndexGrpc.getDeleteMethod(), request);
    final Answer answer =
        response == null
            ? null
            : new Answer(response.getExisted(), 0, 0, response.getIncarnation());
    add(route, key, Call.delete(), answer);
  }

  private void compareAndSet(Route route, int key) throws Exception {
    final long value = nextValue();
    // Now and then a version that it cannot be any more, or not yet.
    final long expected =
        random.nextInt(10) > 0 ? seen[key] : Math.max(0, seen[key] + random.nextInt(7) - 3);
    final CompareAndSetRequest request =
        CompareAndSetRequest.newBuilder()
            .setIndex(index)
            .setKey(bytes(key))
            .setValue(Values.bytes(value))
            .setExpectedVersion(expected)
            .build();
    final CompareAndSetResponse response =
        caller.call(route, IndexGrpc.getCompareAndSetMethod(), request);
    final Answer answer =
        response == null
            ? null
            : entry(
                key,
                response.getApplied(),
                response.hasEntry() ? response.getEntry() : null,
                response.getIncarnation());
    add(route, key, Call.compareAndSet(expected, value), answer);
  }

  private long nextValue() {
    writes++;
    return Values.number(id, writes);
  }

  private ByteString bytes(int key) {
    return ByteString.copyFromUtf8(round + "/" + key);
  }

  private Answer found(int key, GetResponse response, long incarnation) {
    return entry(
        key, response.hasEntry(), response.hasEntry() ? response.getEntry() : null, incarnation);
  }

  private Answer entry(int key, boolean yes, Entry entry, long incarnation) {
    if (entry == null) {
      return new Answer(yes, 0, 0, incarnation);
    }
    if (!entry.getKey().equals(bytes(key))) {
      throw new AssertionError("asked for key " + round + "/" + key + ", answered " + entry);
    }
    return new Answer(yes, entry.getVersion(), Values.number(entry.getValue()), incarnation);
  }

  /**
   * Adds what the last call asked of a key; without an answer it is open. A read that has found no
   * server says nothing.
   */
  private void add(Route route, int key, Call call, Answer answer) {
    if (call.kind().isRead() && caller.wasUnavailable()) {
      return;
    }
    history.add(
        new Operation(
            key,
            call,
            answer == null ? Answer.OPEN : answer,
            route.ring(),
            caller.invokedNs(),
            caller.answeredNs()));
    if (answer != null) {
      seen[key] = answer.version();
    }
  }
}
