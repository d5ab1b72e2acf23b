package dev.ringfetch.index.linearizability;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.linearizability.Call.Kind;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
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

  private final int id;
  private final Random random;
  private final List<Route> routes;
  private final boolean direct;
  private final Caller caller;
  private final DirectValue found = new DirectValue();

  /** The version last seen of each key of the round; 0: absent. */
  private final long[] seen = new long[KEYS];

  private final List<Operation> history = new ArrayList<>();
  private String index;
  private DirectReader reader; // of the index of the round; null: not opened
  private long directReads;
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
    this.caller = new Caller(random);
  }

  /** Makes that many calls in a round, and returns what they were. */
  List<Operation> run(int round, int calls) throws Exception {
    this.round = round;
    index = "round-" + round % INDEXES;
    Arrays.fill(seen, 0);
    history.clear();
    for (int i = 0; i < calls; i++) {
      final Route route = routes.get(random.nextInt(routes.size()));
      final int key = random.nextInt(KEYS);
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> get(route, key);
        case 3, 4 -> batchGet(route);
        case 5, 6 -> put(route, key);
        case 7 -> delete(route, key);
        default -> compareAndSet(route, key);
      }
    }
    if (reader != null) {
      directReads += reader.directReads();
      reader.close();
      reader = null;
    }
    return List.copyOf(history);
  }

  /** Reads so far that needed no call. */
  long directReads() {
    return directReads;
  }

  private boolean isDirect(Route route) {
    if (!direct || !route.ring() || random.nextBoolean()) {
      return false;
    }
    if (reader == null) {
      reader = DirectReader.open(route.channel(), index);
    }
    return true;
  }

  private void getDirectly(Route route, int key) {
    final boolean present = caller.time(() -> reader.get(bytes(key), found));
    add(route, key, Call.read(Kind.GET), answer(present, found));
  }

  private void batchGetDirectly(Route route, int[] keys) {
    final DirectValue[] founds =
        Stream.generate(DirectValue::new).limit(keys.length).toArray(DirectValue[]::new);
    final boolean[] present = new boolean[keys.length];
    final List<ByteString> bytes = IntStream.of(keys).mapToObj(this::bytes).toList();
    final var unused =
        caller.time(
            () -> {
              reader.batchGet(bytes, founds, present);
              return true;
            });
    for (int i = 0; i < keys.length; i++) {
      add(route, keys[i], Call.read(Kind.BATCH_GET), answer(present[i], founds[i]));
    }
  }

  private static Answer answer(boolean present, DirectValue found) {
    return present
        ? new Answer(true, found.version(), Values.number(found.value()))
        : new Answer(false, 0, 0);
  }

  private void get(Route route, int key) throws Exception {
    if (isDirect(route)) {
      getDirectly(route, key);
      return;
    }
    final GetRequest request = GetRequest.newBuilder().setIndex(index).setKey(bytes(key)).build();
    final GetResponse response = caller.call(route, IndexGrpc.getGetMethod(), request);
    add(route, key, Call.read(Kind.GET), response == null ? null : found(key, response));
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
      final Answer answer = response == null ? null : found(keys[i], response.getAnswers(i));
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
        response == null ? null : new Answer(response.getCreated(), response.getVersion(), 0);
    add(route, key, Call.put(value), answer);
  }

  private void delete(Route route, int key) throws Exception {
    final DeleteRequest request =
        DeleteRequest.newBuilder().setIndex(index).setKey(bytes(key)).build();
    final DeleteResponse response = caller.call(route, IndexGrpc.getDeleteMethod(), request);
    final Answer answer = response == null ? null : new Answer(response.getExisted(), 0, 0);
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
            : entry(key, response.getApplied(), response.hasEntry() ? response.getEntry() : null);
    add(route, key, Call.compareAndSet(expected, value), answer);
  }

  private long nextValue() {
    writes++;
    return Values.number(id, writes);
  }

  private ByteString bytes(int key) {
    return ByteString.copyFromUtf8(round + "/" + key);
  }

  private Answer found(int key, GetResponse response) {
    return entry(key, response.hasEntry(), response.hasEntry() ? response.getEntry() : null);
  }

  private Answer entry(int key, boolean yes, Entry entry) {
    if (entry == null) {
      return new Answer(yes, 0, 0);
    }
    if (!entry.getKey().equals(bytes(key))) {
      throw new AssertionError("asked for key " + round + "/" + key + ", answered " + entry);
    }
    return new Answer(yes, entry.getVersion(), Values.number(entry.getValue()));
  }

  /** Adds what the last call asked of a key; without an answer it is open. */
  private void add(Route route, int key, Call call, Answer answer) {
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
