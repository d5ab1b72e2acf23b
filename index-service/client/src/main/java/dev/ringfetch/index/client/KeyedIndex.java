package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.FollowResponse;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RunKernelResponse;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * A typed view of an index: reads and writes entries by their keys, and waits for each answer. The
 * base of {@link HashIndex}, {@link OrderedIndex} and {@link SpatialIndex}.
 *
 * <p>Operations on one key are atomic and linearizable: an operation sees every write that returned
 * before it began. Each call to the server has the view's deadline, 1 second by default; {@link
 * #getAll}, {@link #putAll} and operations on ranges may make several calls. An operation that
 * finds no server, or loses it, waits for one until its deadline. A write is carried out once all
 * the same, see {@link IndexClientBuilder#exactlyOnce}; if the server can no longer tell whether it
 * was, the write fails with {@link OutcomeGoneException}. While {@link
 * IndexClientBuilder#maxInFlight} other operations are under way, an operation waits for a permit,
 * and fails with {@link OverloadedException} if it gets none in time.
 *
 * <p>All operations throw {@link IndexException} if a call fails, with CANCELLED if the thread is
 * interrupted (it stays interrupted), and {@link IllegalStateException} after the client was
 * closed. They pass on exceptions of codecs for keys and values that cannot be encoded. Nulls are
 * refused.
 *
 * <p>A view costs little and is never closed. Immutable; safe for use by many threads.
 *
 * @param <K> type of the keys, at most 1 KiB when encoded, and not empty.
 * @param <V> type of the values, at most 1 MiB when encoded.
 */
public abstract class KeyedIndex<K, V> {
  /** The byte that, appended to a key, makes the next key. */
  private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);

  private final View<K, V> view;
  private final Access access;
  private final DirectAccess memory;
  private final DirectRoute direct; // null: all reads go by calls

  KeyedIndex(View<K, V> view, Access access, DirectAccess memory) {
    this.view = view;
    this.access = access;
    this.memory = memory;
    direct = access == Access.RPC ? null : memory.of(name(), view.timeoutNs()).route(access);
  }

  View<K, V> view() {
    return view;
  }

  /** The route to its memory; null if all reads go by calls. */
  DirectRoute direct() {
    return direct;
  }

  /** The memory of indexes, for views with any timeout and access. */
  DirectAccess memory() {
    return memory;
  }

  /** The route to its memory that does not wait; null if all reads go by calls. */
  DirectRoute unwaiting() {
    return access == Access.DIRECT
        ? memory.unwaiting(name(), view.timeoutNs()).route(access)
        : null;
  }

  /** The route of reads. */
  public Access access() {
    return access;
  }

  /** Name of the index. */
  public String name() {
    return view.requests().name();
  }

  /** The value of a key; empty if there is none. */
  public Optional<V> get(K key) {
    return getEntry(key).map(IndexEntry::value);
  }

  /** The value of a key and its version; empty if there is none. */
  public Optional<IndexEntry<K, V>> getEntry(K key) {
    final ByteString encoded = view.requests().encodeKey(key);
    return run(Operation.GET, encoded, run -> find(run, key, encoded));
  }

  private Optional<IndexEntry<K, V>> find(OperationRun run, K key, ByteString encoded) {
    final Optional<IndexEntry<K, V>> found = read(run, key, encoded);
    run.endTurn();
    return found;
  }

  private Optional<IndexEntry<K, V>> read(OperationRun run, K key, ByteString encoded) {
    final DirectReads.Reader reader = direct == null ? null : direct.borrow(run, ReadKind.GET);
    if (reader != null) {
      try {
        return findDirectly(run, reader, key, encoded);
      } catch (StatusRuntimeException e) {
        if (!Failures.isLost(e.getStatus()) || run.leftNs() <= 0) {
          throw run.failure(e.getStatus(), false);
        }
      } finally {
        direct.giveBack(reader);
      }
    }
    final GetResponse response =
        view.call(run, view.requests().get(encoded), GetResponse::getIncarnation);
    return view.requests().found(run.subject(), key, response.hasEntry(), response.getEntry());
  }

  private Optional<IndexEntry<K, V>> findDirectly(
      OperationRun run, DirectReads.Reader reader, K key, ByteString encoded) {
    final long callsBefore = reader.callReads();
    final boolean present = reader.get(encoded);
    if (reader.callReads() == callsBefore) {
      run.route(Access.DIRECT);
    }
    return view.read(run, key, present, reader.value());
  }

  /**
   * The values of several keys, in the order of the keys, without those that are absent. Each is
   * read on its own: writes may come between two of them.
   */
  public Map<K, V> getAll(Collection<? extends K> keys) {
    final GetAll<K, V> steps =
        new GetAll<>(view.requests(), view.subject(Operation.GET_ALL, null), keys);
    return run(
        Operation.GET_ALL,
        null,
        run -> {
          steps.check();
          while (!steps.isDone()) {
            run.extend();
            if (direct == null || !getDirectly(run, steps)) {
              getByCall(run, steps);
            }
            run.endTurn();
          }
          return steps.found();
        });
  }

  /**
   * A chain of entries, of which each has the key of the next one: by one call, or one read of
   * memory after the other. Each entry is as it was when its turn came; the chain as a whole may
   * never have been so. It ends before a key that has no entry, and behind an entry without the
   * field.
   *
   * @param next where a value has the next key, as the codec of keys encodes it, such as {@code
   *     Field.value().bytes(0, 16)}.
   * @param most the most entries, from 1 to 16.
   */
  public List<IndexEntry<K, V>> follow(K first, Field<ByteString> next, int most) {
    final FollowRequest request =
        FollowRequest.newBuilder()
            .setIndex(view.requests().name())
            .setKey(view.requests().encodeKey(first))
            .setNext(next.message())
            .setHops(most)
            .build();
    return run(
        Operation.FOLLOW,
        request.getKey(),
        run -> {
          final FollowResponse found =
              directly(run, ReadKind.CHAIN, reader -> reader.follow(request));
          final FollowResponse chain =
              found != null
                  ? found
                  : view.call(
                      run,
                      Call.reading(IndexGrpc.getFollowMethod(), request),
                      FollowResponse::getIncarnation);
          run.endTurn();
          return chain.getEntriesList().stream()
              .map(entry -> view.requests().entry(run.subject(), entry))
              .toList();
        });
  }

  /**
   * Runs a kernel: a class of the server's own, which reads this index beside the data. Goes by a
   * call in every view, and is repeated as other reads are.
   *
   * @param argument what the kernel takes; at most 1 MiB.
   * @return what the kernel answers. It ends NOT_FOUND where the server has none of that name, and
   *     RESOURCE_EXHAUSTED beyond a second or a million entries.
   */
  public ByteString runKernel(String kernel, ByteString argument) {
    final var call = view.requests().kernel(kernel, argument);
    return run(
        Operation.RUN_KERNEL,
        null,
        run -> view.call(run, call, RunKernelResponse::getIncarnation).getAnswer());
  }

  /** Reads with a reader of memory; null if a call has to read. */
  <T> T directly(OperationRun run, ReadKind kind, Function<DirectReads.Reader, T> read) {
    final DirectReads.Reader reader = direct == null ? null : direct.borrow(run, kind);
    if (reader == null) {
      return null;
    }
    try {
      final T found = read.apply(reader);
      if (found != null) {
        run.route(Access.DIRECT);
      }
      return found;
    } finally {
      direct.giveBack(reader);
    }
  }

  private void getByCall(OperationRun run, GetAll<K, V> steps) {
    try {
      steps.answered(view.call(run, steps.next(), BatchGetResponse::getIncarnation));
    } catch (IndexException e) {
      if (!steps.halve(e)) {
        throw e;
      }
    }
  }

  /** Reads a batch with a reader of memory. False if it must be read by calls. */
  private boolean getDirectly(OperationRun run, GetAll<K, V> steps) {
    final List<ByteString> keys = steps.nextKeys();
    final DirectReads.Reader reader = direct.borrow(run, ReadKind.batch(keys.size()));
    if (reader == null) {
      return false;
    }
    try {
      final DirectValue[] values = new DirectValue[keys.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = new DirectValue();
      }
      final boolean[] present = new boolean[values.length];
      final long callsBefore = reader.callReads();
      reader.batchGet(keys, values, present);
      run.route(reader.callReads() == callsBefore ? Access.DIRECT : Access.RPC);
      for (int i = 0; i < values.length; i++) {
        steps.answered(present[i], present[i] ? values[i].value() : ByteString.EMPTY);
      }
      return true;
    } catch (StatusRuntimeException e) {
      if (Failures.isLost(e.getStatus()) && run.leftNs() > 0) {
        return false;
      }
      throw run.failure(e.getStatus(), false);
    } finally {
      direct.giveBack(reader);
    }
  }

  /**
   * Writes a value, whether or not there was one. It stays until it is removed, even if it replaces
   * an entry with a deadline.
   *
   * @return the version of the entry.
   */
  public long put(K key, V value) {
    return put(key, value, TimeToLive.NONE);
  }

  /**
   * Writes a value with a time to live, whether or not there was one.
   *
   * @param ttl from the write on, at most 3650 days, rounded up to milliseconds. After it the key
   *     is absent, for all kinds of reads at the same moment, which comes at most 10 ms and one
   *     sync later by the server's clock.
   * @return the version of the entry.
   * @throws IllegalArgumentException unless the time is longer than 0.
   */
  public long put(K key, V value, Duration ttl) {
    return put(key, value, TimeToLive.millis(ttl));
  }

  private long put(K key, V value, long ttlMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    final ByteString bytes = view.requests().encodeValue(value);
    return run(
        Operation.PUT,
        encoded,
        run -> {
          run.check(EntryLimits.ofValue(bytes));
          return view.call(
                  run, view.requests().put(encoded, bytes, ttlMs), PutResponse::getIncarnation)
              .getVersion();
        });
  }

  /**
   * Writes a value if there is none.
   *
   * @return whether it was written.
   */
  public boolean putIfAbsent(K key, V value) {
    return putIfAbsent(key, value, TimeToLive.NONE);
  }

  /**
   * Writes a value with a time to live, if there is none.
   *
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   * @return whether it was written.
   */
  public boolean putIfAbsent(K key, V value, Duration ttl) {
    return putIfAbsent(key, value, TimeToLive.millis(ttl));
  }

  private boolean putIfAbsent(K key, V value, long ttlMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    final ByteString bytes = view.requests().encodeValue(value);
    return run(
        Operation.PUT_IF_ABSENT,
        encoded,
        run -> compareAndSet(run, encoded, 0, bytes, ttlMs).getApplied());
  }

  /**
   * Writes many values, each on its own, in batches.
   *
   * @throws IndexException if entries were not written. If the server refused some, it names their
   *     number and the first one, and has all in {@link IndexException#refusals}; the others were
   *     written. If a call failed, it names the number of entries written before; those of that
   *     call may have been written, later ones were not.
   */
  public void putAll(Map<? extends K, ? extends V> entries) {
    putAll(entries, TimeToLive.NONE);
  }

  /**
   * Writes many values with a time to live, as {@link #putAll(Map)} does.
   *
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   */
  public void putAll(Map<? extends K, ? extends V> entries, Duration ttl) {
    putAll(entries, TimeToLive.millis(ttl));
  }

  private void putAll(Map<? extends K, ? extends V> entries, long ttlMs) {
    final PutAll<K, V> steps = new PutAll<>(view.requests(), entries, ttlMs);
    run(
        Operation.PUT_ALL,
        null,
        run -> {
          while (!steps.isDone()) {
            run.extend();
            steps.answered(run, view.call(run, steps.next(), BatchPutResponse::getIncarnation));
          }
          steps.check(run);
          return null;
        });
  }

  /**
   * Removes a key.
   *
   * @return whether there was an entry.
   */
  public boolean remove(K key) {
    final ByteString encoded = view.requests().encodeKey(key);
    return run(
        Operation.REMOVE,
        encoded,
        run ->
            view.call(run, view.requests().remove(encoded), DeleteResponse::getIncarnation)
                .getExisted());
  }

  /**
   * Writes a value if the entry has the expected version. It stays until it is removed, even if the
   * entry had a deadline.
   *
   * @param expectedVersion of an {@link IndexEntry}; 0: the key must be absent.
   */
  public CompareAndSetResult<K, V> compareAndSet(K key, long expectedVersion, V value) {
    return compareAndSet(key, expectedVersion, value, TimeToLive.NONE);
  }

  /**
   * Writes a value with a time to live, if the entry has the expected version.
   *
   * @param expectedVersion of an {@link IndexEntry}; 0: the key must be absent.
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   */
  public CompareAndSetResult<K, V> compareAndSet(
      K key, long expectedVersion, V value, Duration ttl) {
    return compareAndSet(key, expectedVersion, value, TimeToLive.millis(ttl));
  }

  private CompareAndSetResult<K, V> compareAndSet(
      K key, long expectedVersion, V value, long ttlMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    final ByteString bytes = view.requests().encodeValue(value);
    return run(
        Operation.COMPARE_AND_SET,
        encoded,
        run -> {
          final CompareAndSetResponse response =
              compareAndSet(run, encoded, expectedVersion, bytes, ttlMs);
          return new CompareAndSetResult<>(
              response.getApplied(), after(run, key, encoded, response));
        });
  }

  /** The entry after a comparison; reads it now if the conflicting entry is gone. */
  private Optional<IndexEntry<K, V>> after(
      OperationRun run, K key, ByteString encoded, CompareAndSetResponse response) {
    return response.getValueGone()
        ? find(run, key, encoded)
        : view.requests().found(run.subject(), key, response.hasEntry(), response.getEntry());
  }

  private CompareAndSetResponse compareAndSet(
      OperationRun run, ByteString key, long expectedVersion, ByteString value, long ttlMs) {
    run.check(EntryLimits.ofValue(value));
    return view.call(
        run,
        view.requests().compareAndSet(key, expectedVersion, value, ttlMs),
        CompareAndSetResponse::getIncarnation);
  }

  /**
   * Adds to a counter, which begins at 0 if there is none. The server does it in one step, so many
   * clients can count one key. A counter keeps its deadline.
   *
   * <p>A counter is a value in the form of {@link Codec#int64}, so of 8 bytes; a view with that
   * codec reads it.
   *
   * @param delta may be negative.
   * @return the counter after the addition.
   * @throws IndexException with FAILED_PRECONDITION if the value is no counter; with OUT_OF_RANGE
   *     if the counter would leave 64 bits.
   */
  public long increment(K key, long delta) {
    return increment(key, delta, TimeToLive.NONE);
  }

  /**
   * Adds to a counter, as {@link #increment(Object, long)} does. If there is none, the new one has
   * this time to live.
   *
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   */
  public long increment(K key, long delta, Duration ttl) {
    return increment(key, delta, TimeToLive.millis(ttl));
  }

  private long increment(K key, long delta, long ttlMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    return run(
        Operation.INCREMENT,
        encoded,
        run -> update(run, view.requests().increment(encoded, delta, ttlMs)).getCounter());
  }

  private UpdateResponse update(OperationRun run, Call<UpdateRequest, UpdateResponse> call) {
    return view.call(run, call, UpdateResponse::getIncarnation);
  }

  /**
   * Writes a value, as {@link #put(Object, Object)} does.
   *
   * @return the value before; empty if there was none.
   * @throws OutcomeGoneException if the value was written, but the answer was lost with the
   *     connection or the server: a repetition gets a value before of up to 16 KiB, and no longer
   *     one.
   */
  public Optional<V> getAndSet(K key, V value) {
    return getAndSet(key, value, TimeToLive.NONE);
  }

  /**
   * Writes a value with a time to live, as {@link #getAndSet(Object, Object)} does.
   *
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   */
  public Optional<V> getAndSet(K key, V value, Duration ttl) {
    return getAndSet(key, value, TimeToLive.millis(ttl));
  }

  private Optional<V> getAndSet(K key, V value, long ttlMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    final ByteString bytes = view.requests().encodeValue(value);
    return run(
        Operation.GET_AND_SET,
        encoded,
        run -> {
          run.check(EntryLimits.ofValue(bytes));
          return view.requests()
              .previous(
                  run.subject(), update(run, view.requests().getAndSet(encoded, bytes, ttlMs)));
        });
  }

  /**
   * Removes a key if its entry has the expected version.
   *
   * @param expectedVersion of an {@link IndexEntry}.
   * @return whether it was removed.
   */
  public boolean removeIf(K key, long expectedVersion) {
    final ByteString encoded = view.requests().encodeKey(key);
    return run(
        Operation.REMOVE_IF,
        encoded,
        run -> update(run, view.requests().removeIf(encoded, expectedVersion)).getApplied());
  }

  /**
   * Gives an entry another time to live. It keeps its value and gets a new version, as the deadline
   * is part of it: watches report a write, and comparisons with the version before are lost.
   *
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   * @return the new version; empty if there is no entry.
   */
  public OptionalLong touch(K key, Duration ttl) {
    return touch(key, 0, ttl);
  }

  /**
   * Gives an entry another time to live, as {@link #touch(Object, Duration)} does, if it has the
   * expected version.
   *
   * @param expectedVersion of an {@link IndexEntry}; 0: any.
   * @return the new version; empty if there is no entry, or it has another version.
   */
  public OptionalLong touch(K key, long expectedVersion, Duration ttl) {
    return touch(key, expectedVersion, TimeToLive.millis(ttl), 0);
  }

  /**
   * Gives an entry this deadline, by the server's clock; otherwise as {@link #touch(Object,
   * Duration)}.
   *
   * @param deadline at most 3650 days ahead, rounded up to milliseconds. One that has passed ends
   *     the entry at once.
   */
  public OptionalLong expireAt(K key, Instant deadline) {
    return touch(key, 0, TimeToLive.NONE, TimeToLive.deadline(deadline));
  }

  /** Takes the deadline from an entry; otherwise as {@link #touch(Object, Duration)}. */
  public OptionalLong persist(K key) {
    return touch(key, 0, TimeToLive.NONE, 0);
  }

  private OptionalLong touch(K key, long expectedVersion, long ttlMs, long deadlineMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    return run(
        Operation.TOUCH,
        encoded,
        run ->
            IndexRequests.version(
                update(run, view.requests().touch(encoded, expectedVersion, ttlMs, deadlineMs))));
  }

  /**
   * Replaces a value by one computed from it, and retries if others write in between, until the
   * deadline. The entry keeps its own deadline. A new entry stays until it is removed.
   *
   * @param function gets the present value, empty if there is none, and returns the new one, never
   *     null. It may be called several times.
   * @return the value that was written.
   */
  public V update(K key, Function<? super Optional<V>, ? extends V> function) {
    return update(key, function, TimeToLive.KEPT);
  }

  /**
   * Replaces a value by one computed from it, as {@link #update(Object, Function)} does. The new
   * value has this time to live from its write on; the entry's former deadline does not matter.
   *
   * @param ttl as of {@link #put(Object, Object, Duration)}.
   * @return the value that was written.
   */
  public V update(K key, Function<? super Optional<V>, ? extends V> function, Duration ttl) {
    return update(key, function, TimeToLive.millis(ttl));
  }

  private V update(K key, Function<? super Optional<V>, ? extends V> function, long ttlMs) {
    final ByteString encoded = view.requests().encodeKey(key);
    return run(
        Operation.UPDATE,
        encoded,
        run -> {
          Optional<IndexEntry<K, V>> present = find(run, key, encoded);
          for (int attempts = 1; ; attempts++) {
            run.releasePermit(); // the function may take long, or use the client
            final V next =
                Objects.requireNonNull(function.apply(present.map(IndexEntry::value)), "update");
            final CompareAndSetResponse response =
                compareAndSet(
                    run,
                    encoded,
                    present.map(IndexEntry::version).orElse(0L),
                    view.requests().encodeValue(next),
                    ttlMs);
            if (response.getApplied()) {
              return next;
            }
            run.progress("attempts=" + attempts);
            present = after(run, key, encoded, response);
          }
        });
  }

  /** A new transaction, which {@link IndexTransaction#commit} has the server carry out. */
  public IndexTransaction<K, V, TransactionResult<K, V>> transaction() {
    return new IndexTransaction<>(view.requests(), this::commit);
  }

  private TransactionResult<K, V> commit(IndexTransaction<K, V, ?> transaction) {
    return run(
        Operation.TRANSACTION,
        null,
        run ->
            transaction.result(
                run.subject(),
                view.call(run, transaction.call(), TransactResponse::getIncarnation)));
  }

  /** Counts the entries, as of some moment during the call. */
  public long count() {
    return count(null);
  }

  long count(KeyRange range) {
    return run(
        Operation.COUNT,
        null,
        run -> {
          final CountResponse response = view.calls().call(run, view.requests().count(range));
          return response.getEntries();
        });
  }

  /**
   * Watches the changes of all keys. Waits until the server has begun, so all changes after the
   * return of this method come.
   *
   * @throws IndexException with NOT_FOUND if there is no such index.
   */
  public Watch<K, V> watch(WatchOptions options) {
    return Watch.open(view, view.requests().watch(KeyRange.getDefaultInstance(), options), options);
  }

  /** As {@link #watch(WatchOptions)}, with the changes of one key. */
  public Watch<K, V> watchKey(K key, WatchOptions options) {
    return Watch.open(view, view.requests().watch(only(key), options), options);
  }

  /** Watches the changes of all keys, which go to a listener. Does not wait. */
  public WatchSubscription<K, V> watch(WatchOptions options, WatchListener<K, V> listener) {
    return WatchSubscription.start(
        view, view.requests().watch(KeyRange.getDefaultInstance(), options), options, listener);
  }

  /** As {@link #watch(WatchOptions, WatchListener)}, with the changes of one key. */
  public WatchSubscription<K, V> watchKey(
      K key, WatchOptions options, WatchListener<K, V> listener) {
    return WatchSubscription.start(
        view, view.requests().watch(only(key), options), options, listener);
  }

  private KeyRange only(K key) {
    final ByteString encoded = view.requests().encodeKey(key);
    return KeyRange.newBuilder().setStart(encoded).setEnd(encoded.concat(ZERO)).build();
  }

  /** Runs an operation and measures it. */
  <T> T run(Operation operation, ByteString key, Function<OperationRun, T> body) {
    final OperationRun run = view.begin(operation, key);
    try {
      return run.measure(
          () -> {
            if (key != null) {
              run.check(EntryLimits.ofKey(key));
            }
            return body.apply(run);
          });
    } catch (IndexException e) {
      view.known().failed(e);
      throw e;
    }
  }

  @Override
  public String toString() {
    return getClass().getSimpleName() + "[" + name() + "]";
  }
}
