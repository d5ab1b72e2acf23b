package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectLook;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RunKernelResponse;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The operations of a {@link KeyedIndex} without waiting for answers: each returns a future, which
 * ends as the operation of the same name does, by its deadline at the latest.
 *
 * <p>{@link #get}, {@link #getEntry} and {@link #getAll} of a view with {@link Access#DIRECT} read
 * the index's memory on the thread of the caller, and return futures that are complete. The first
 * ones go by calls until the server has granted that; so do reads that memory alone cannot decide,
 * and those over a fabric that does not map memory (verbs), where the caller would wait. A read of
 * memory may come before a write whose future has not ended yet, and is no operation under way. A
 * {@link #getAll} reads 256 keys so at most, and the others by calls. All reads of a view with
 * {@link Access#ADAPTIVE} go by calls: futures may wait for one another, so their durations do not
 * tell the faster route.
 *
 * <p>A stage of a future that is complete runs at once, on the thread that adds it. A chain in
 * which each stage reads the next key, as {@code get(key).thenCompose(value -> next())}, therefore
 * recurses, and ends in a {@link StackOverflowError} after one or two thousand reads: make such
 * reads in a loop, or the stages with {@code thenComposeAsync}.
 *
 * <p>The future is returned at once, unless {@link IndexClientBuilder#maxInFlight} operations are
 * under way: then the caller waits for a turn, at most until the deadline. A callback on a thread
 * of the channel never waits so: it may begin one operation in place of the one that has ended.
 * Beyond that, without a turn, its future fails with {@link OverloadedException}.
 *
 * <p>Futures complete on a thread of the channel, which stages that take long, or wait for another
 * answer, must leave: give those an executor. To cancel a future cancels its call; a write may be
 * carried out all the same. To cancel a stage that depends on it does not.
 *
 * <p>Immutable; safe for use by many threads.
 */
public class AsyncIndex<K, V> {
  /** The most keys of an operation that are read in memory, so that its caller soon goes on. */
  static final int MEMORY_KEYS = 256;

  private final View<K, V> view;
  private final IndexRequests<K, V> requests;
  private final DirectRoute direct; // null: all reads go by calls

  AsyncIndex(View<K, V> view, DirectRoute direct) {
    this.view = view;
    this.requests = view.requests();
    this.direct = direct;
  }

  /** As {@link KeyedIndex#get}. */
  public CompletableFuture<Optional<V>> get(K key) {
    return find(key, entry -> entry.map(IndexEntry::value));
  }

  /** As {@link KeyedIndex#getEntry}. */
  public CompletableFuture<Optional<IndexEntry<K, V>>> getEntry(K key) {
    return find(key, entry -> entry);
  }

  private <T> CompletableFuture<T> find(K key, Function<Optional<IndexEntry<K, V>>, T> part) {
    final ByteString encoded = requests.encodeKey(key);
    return run(
        Operation.GET,
        encoded,
        run -> look(run, key, encoded).map(part),
        future -> find(future, key, encoded, entry -> future.succeed(part.apply(entry))));
  }

  /** Looks a key up in memory; the outer result is empty if a call has to decide. */
  private Optional<Optional<IndexEntry<K, V>>> look(OperationRun run, K key, ByteString encoded) {
    final DirectReads.Reader reader = direct == null ? null : direct.borrow(run, ReadKind.GET);
    if (reader == null) {
      return Optional.empty();
    }
    try {
      final DirectLook look = reader.look(encoded);
      return look == DirectLook.UNDECIDED
          ? Optional.empty()
          : Optional.of(view.read(run, key, look == DirectLook.FOUND, reader.value()));
    } finally {
      direct.giveBack(reader);
    }
  }

  private void find(
      CallFuture<?> future, K key, ByteString encoded, Consumer<Optional<IndexEntry<K, V>>> then) {
    view.send(
        future,
        requests.get(encoded),
        GetResponse::getIncarnation,
        response -> {
          final Subject subject = future.run().subject();
          then.accept(requests.found(subject, key, response.hasEntry(), response.getEntry()));
        });
  }

  /** As {@link KeyedIndex#runKernel}. */
  public CompletableFuture<ByteString> runKernel(String kernel, ByteString argument) {
    return run(
        Operation.RUN_KERNEL,
        null,
        future ->
            view.send(
                future,
                requests.kernel(kernel, argument),
                RunKernelResponse::getIncarnation,
                response -> future.succeed(response.getAnswer())));
  }

  /** As {@link KeyedIndex#getAll}. */
  public CompletableFuture<Map<K, V>> getAll(Collection<? extends K> keys) {
    final GetAll<K, V> steps = new GetAll<>(requests, view.subject(Operation.GET_ALL, null), keys);
    return run(
        Operation.GET_ALL,
        null,
        run -> {
          steps.check();
          return lookAll(run, steps) ? Optional.of(steps.found()) : Optional.empty();
        },
        future -> getAll(future, steps));
  }

  /**
   * Looks keys up in memory, up to a limit or the first one that a call has to decide; returns
   * whether that were all.
   */
  private boolean lookAll(OperationRun run, GetAll<K, V> steps) {
    final DirectReads.Reader reader =
        direct == null ? null : direct.borrow(run, ReadKind.batch(steps.count()));
    if (reader == null) {
      return false;
    }
    try {
      for (int i = 0; i < MEMORY_KEYS && !steps.isDone(); i++) {
        final DirectLook look = reader.look(steps.nextKey());
        if (look == DirectLook.UNDECIDED) {
          return false;
        }
        final boolean present = look == DirectLook.FOUND;
        steps.answered(present, present ? reader.value().value() : ByteString.EMPTY);
      }
      return steps.isDone();
    } finally {
      direct.giveBack(reader);
    }
  }

  private void getAll(CallFuture<Map<K, V>> future, GetAll<K, V> steps) {
    if (steps.isDone()) {
      future.succeed(steps.found());
      return;
    }
    future.run().extend();
    view.send(
        future,
        steps.next(),
        BatchGetResponse::getIncarnation,
        response -> {
          steps.answered(response);
          getAll(future, steps);
        },
        failure -> {
          if (steps.halve(failure)) {
            getAll(future, steps);
          } else {
            future.fail(failure);
          }
        });
  }

  /** As {@link KeyedIndex#put(Object, Object)}. */
  public CompletableFuture<Long> put(K key, V value) {
    return put(key, value, TimeToLive.NONE);
  }

  /** As {@link KeyedIndex#put(Object, Object, Duration)}. */
  public CompletableFuture<Long> put(K key, V value, Duration ttl) {
    return put(key, value, TimeToLive.millis(ttl));
  }

  private CompletableFuture<Long> put(K key, V value, long ttlMs) {
    final ByteString encoded = requests.encodeKey(key);
    final ByteString bytes = requests.encodeValue(value);
    return run(
        Operation.PUT,
        encoded,
        future -> {
          future.run().check(EntryLimits.ofValue(bytes));
          view.send(
              future,
              requests.put(encoded, bytes, ttlMs),
              PutResponse::getIncarnation,
              response -> future.succeed(response.getVersion()));
        });
  }

  /** As {@link KeyedIndex#putIfAbsent(Object, Object)}. */
  public CompletableFuture<Boolean> putIfAbsent(K key, V value) {
    return putIfAbsent(key, value, TimeToLive.NONE);
  }

  /** As {@link KeyedIndex#putIfAbsent(Object, Object, Duration)}. */
  public CompletableFuture<Boolean> putIfAbsent(K key, V value, Duration ttl) {
    return putIfAbsent(key, value, TimeToLive.millis(ttl));
  }

  private CompletableFuture<Boolean> putIfAbsent(K key, V value, long ttlMs) {
    final ByteString encoded = requests.encodeKey(key);
    final ByteString bytes = requests.encodeValue(value);
    return run(
        Operation.PUT_IF_ABSENT,
        encoded,
        future ->
            compareAndSet(
                future,
                requests.compareAndSet(encoded, 0, bytes, ttlMs),
                response -> future.succeed(response.getApplied())));
  }

  /** As {@link KeyedIndex#putAll(Map)}. */
  public CompletableFuture<Void> putAll(Map<? extends K, ? extends V> entries) {
    return putAll(entries, TimeToLive.NONE);
  }

  /** As {@link KeyedIndex#putAll(Map, Duration)}. */
  public CompletableFuture<Void> putAll(Map<? extends K, ? extends V> entries, Duration ttl) {
    return putAll(entries, TimeToLive.millis(ttl));
  }

  private CompletableFuture<Void> putAll(Map<? extends K, ? extends V> entries, long ttlMs) {
    final PutAll<K, V> steps = new PutAll<>(requests, entries, ttlMs);
    return run(Operation.PUT_ALL, null, future -> putAll(future, steps));
  }

  private void putAll(CallFuture<Void> future, PutAll<K, V> steps) {
    if (steps.isDone()) {
      steps.check(future.run());
      future.succeed(null);
      return;
    }
    future.run().extend();
    view.send(
        future,
        steps.next(),
        BatchPutResponse::getIncarnation,
        response -> {
          steps.answered(future.run(), response);
          putAll(future, steps);
        });
  }

  /** As {@link KeyedIndex#remove}. */
  public CompletableFuture<Boolean> remove(K key) {
    final ByteString encoded = requests.encodeKey(key);
    return run(
        Operation.REMOVE,
        encoded,
        future ->
            view.send(
                future,
                requests.remove(encoded),
                DeleteResponse::getIncarnation,
                response -> future.succeed(response.getExisted())));
  }

  /** As {@link KeyedIndex#compareAndSet(Object, long, Object)}. */
  public CompletableFuture<CompareAndSetResult<K, V>> compareAndSet(
      K key, long expectedVersion, V value) {
    return compareAndSet(key, expectedVersion, value, TimeToLive.NONE);
  }

  /** As {@link KeyedIndex#compareAndSet(Object, long, Object, Duration)}. */
  public CompletableFuture<CompareAndSetResult<K, V>> compareAndSet(
      K key, long expectedVersion, V value, Duration ttl) {
    return compareAndSet(key, expectedVersion, value, TimeToLive.millis(ttl));
  }

  private CompletableFuture<CompareAndSetResult<K, V>> compareAndSet(
      K key, long expectedVersion, V value, long ttlMs) {
    final ByteString encoded = requests.encodeKey(key);
    final ByteString bytes = requests.encodeValue(value);
    return run(
        Operation.COMPARE_AND_SET,
        encoded,
        future ->
            compareAndSet(
                future,
                requests.compareAndSet(encoded, expectedVersion, bytes, ttlMs),
                response ->
                    after(
                        future,
                        key,
                        encoded,
                        response,
                        entry ->
                            future.succeed(
                                new CompareAndSetResult<>(response.getApplied(), entry)))));
  }

  /** Continues with the entry after a comparison; reads it now if the conflicting entry is gone. */
  private void after(
      CallFuture<?> future,
      K key,
      ByteString encoded,
      CompareAndSetResponse response,
      Consumer<Optional<IndexEntry<K, V>>> then) {
    if (response.getValueGone()) {
      find(future, key, encoded, then);
    } else {
      then.accept(
          requests.found(future.run().subject(), key, response.hasEntry(), response.getEntry()));
    }
  }

  private void compareAndSet(
      CallFuture<?> future,
      Call<CompareAndSetRequest, CompareAndSetResponse> call,
      Consumer<CompareAndSetResponse> then) {
    future.run().check(EntryLimits.ofValue(call.request().getValue()));
    view.send(future, call, CompareAndSetResponse::getIncarnation, then);
  }

  /** As {@link KeyedIndex#increment(Object, long)}. */
  public CompletableFuture<Long> increment(K key, long delta) {
    return increment(key, delta, TimeToLive.NONE);
  }

  /** As {@link KeyedIndex#increment(Object, long, Duration)}. */
  public CompletableFuture<Long> increment(K key, long delta, Duration ttl) {
    return increment(key, delta, TimeToLive.millis(ttl));
  }

  private CompletableFuture<Long> increment(K key, long delta, long ttlMs) {
    final ByteString encoded = requests.encodeKey(key);
    return run(
        Operation.INCREMENT,
        encoded,
        future ->
            update(
                future,
                requests.increment(encoded, delta, ttlMs),
                response -> future.succeed(response.getCounter())));
  }

  private void update(
      CallFuture<?> future,
      Call<UpdateRequest, UpdateResponse> call,
      Consumer<UpdateResponse> then) {
    view.send(future, call, UpdateResponse::getIncarnation, then);
  }

  /** As {@link KeyedIndex#getAndSet(Object, Object)}. */
  public CompletableFuture<Optional<V>> getAndSet(K key, V value) {
    return getAndSet(key, value, TimeToLive.NONE);
  }

  /** As {@link KeyedIndex#getAndSet(Object, Object, Duration)}. */
  public CompletableFuture<Optional<V>> getAndSet(K key, V value, Duration ttl) {
    return getAndSet(key, value, TimeToLive.millis(ttl));
  }

  private CompletableFuture<Optional<V>> getAndSet(K key, V value, long ttlMs) {
    final ByteString encoded = requests.encodeKey(key);
    final ByteString bytes = requests.encodeValue(value);
    return run(
        Operation.GET_AND_SET,
        encoded,
        future -> {
          future.run().check(EntryLimits.ofValue(bytes));
          update(
              future,
              requests.getAndSet(encoded, bytes, ttlMs),
              response -> future.succeed(requests.previous(future.run().subject(), response)));
        });
  }

  /** As {@link KeyedIndex#removeIf}. */
  public CompletableFuture<Boolean> removeIf(K key, long expectedVersion) {
    final ByteString encoded = requests.encodeKey(key);
    return run(
        Operation.REMOVE_IF,
        encoded,
        future ->
            update(
                future,
                requests.removeIf(encoded, expectedVersion),
                response -> future.succeed(response.getApplied())));
  }

  /** As {@link KeyedIndex#touch(Object, Duration)}. */
  public CompletableFuture<OptionalLong> touch(K key, Duration ttl) {
    return touch(key, 0, ttl);
  }

  /** As {@link KeyedIndex#touch(Object, long, Duration)}. */
  public CompletableFuture<OptionalLong> touch(K key, long expectedVersion, Duration ttl) {
    return touch(key, expectedVersion, TimeToLive.millis(ttl), 0);
  }

  /** As {@link KeyedIndex#expireAt}. */
  public CompletableFuture<OptionalLong> expireAt(K key, Instant deadline) {
    return touch(key, 0, TimeToLive.NONE, TimeToLive.deadline(deadline));
  }

  /** As {@link KeyedIndex#persist}. */
  public CompletableFuture<OptionalLong> persist(K key) {
    return touch(key, 0, TimeToLive.NONE, 0);
  }

  private CompletableFuture<OptionalLong> touch(
      K key, long expectedVersion, long ttlMs, long deadlineMs) {
    final ByteString encoded = requests.encodeKey(key);
    return run(
        Operation.TOUCH,
        encoded,
        future ->
            update(
                future,
                requests.touch(encoded, expectedVersion, ttlMs, deadlineMs),
                response -> future.succeed(IndexRequests.version(response))));
  }

  /**
   * As {@link KeyedIndex#update(Object, Function)}.
   *
   * @param function is called on threads of the channel, and must not wait.
   */
  public CompletableFuture<V> update(K key, Function<? super Optional<V>, ? extends V> function) {
    return update(key, function, TimeToLive.KEPT);
  }

  /**
   * As {@link KeyedIndex#update(Object, Function, Duration)}.
   *
   * @param function is called on threads of the channel, and must not wait.
   */
  public CompletableFuture<V> update(
      K key, Function<? super Optional<V>, ? extends V> function, Duration ttl) {
    return update(key, function, TimeToLive.millis(ttl));
  }

  private CompletableFuture<V> update(
      K key, Function<? super Optional<V>, ? extends V> function, long ttlMs) {
    final ByteString encoded = requests.encodeKey(key);
    return run(
        Operation.UPDATE,
        encoded,
        future -> {
          final Update update = new Update(future, key, encoded, function, ttlMs);
          find(future, key, encoded, update::write);
        });
  }

  /** The steps of an update. */
  private final class Update {
    private final CallFuture<V> future;
    private final K key;
    private final ByteString encoded;
    private final Function<? super Optional<V>, ? extends V> function;
    private final long ttlMs;
    private int attempts;

    Update(
        CallFuture<V> future,
        K key,
        ByteString encoded,
        Function<? super Optional<V>, ? extends V> function,
        long ttlMs) {
      this.ttlMs = ttlMs;
      this.future = future;
      this.key = key;
      this.encoded = encoded;
      this.function = function;
    }

    void write(Optional<IndexEntry<K, V>> present) {
      if (future.isAbandoned()) {
        return;
      }
      final V next =
          Objects.requireNonNull(function.apply(present.map(IndexEntry::value)), "update");
      final long version = present.map(IndexEntry::version).orElse(0L);
      compareAndSet(
          future,
          requests.compareAndSet(encoded, version, requests.encodeValue(next), ttlMs),
          response -> {
            if (response.getApplied()) {
              future.succeed(next);
            } else {
              future.run().progress("attempts=" + ++attempts);
              after(future, key, encoded, response, this::write);
            }
          });
    }
  }

  /** As {@link KeyedIndex#transaction}. */
  public IndexTransaction<K, V, CompletableFuture<TransactionResult<K, V>>> transaction() {
    return new IndexTransaction<>(requests, this::commit);
  }

  private CompletableFuture<TransactionResult<K, V>> commit(IndexTransaction<K, V, ?> transaction) {
    return run(
        Operation.TRANSACTION,
        null,
        future ->
            view.send(
                future,
                transaction.call(),
                TransactResponse::getIncarnation,
                response -> future.succeed(transaction.result(future.run().subject(), response))));
  }

  /** As {@link KeyedIndex#count()}. */
  public CompletableFuture<Long> count() {
    return count((KeyRange) null);
  }

  CompletableFuture<Long> count(KeyRange range) {
    return run(
        Operation.COUNT,
        null,
        future ->
            view.calls()
                .send(
                    future,
                    requests.count(range),
                    response -> future.succeed(response.getEntries())));
  }

  /** Starts an operation, once it has its turn; a client that is closed fails the future. */
  <T> CompletableFuture<T> run(Operation operation, ByteString key, Consumer<CallFuture<T>> body) {
    return run(operation, key, run -> Optional.empty(), body);
  }

  /**
   * Starts an operation, as above.
   *
   * @param memory tries to get the result out of memory; if it is empty, the body makes calls.
   */
  private <T> CompletableFuture<T> run(
      Operation operation,
      ByteString key,
      Function<OperationRun, Optional<T>> memory,
      Consumer<CallFuture<T>> body) {
    try {
      final CallFuture<T> future =
          new CallFuture<>(view.begin(operation, key), view.known()::failed);
      IndexCalls.proceed(
          future,
          () -> {
            if (key != null) {
              future.run().check(EntryLimits.ofKey(key));
            }
            final Optional<T> read = memory.apply(future.run());
            if (read.isPresent()) {
              future.run().route(Access.DIRECT);
              future.succeed(read.get());
            } else {
              view.calls().admit(future.run());
              body.accept(future);
            }
          });
      return future;
    } catch (IllegalStateException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
