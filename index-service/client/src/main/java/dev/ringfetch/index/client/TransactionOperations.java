package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.ReadEntry;
import dev.ringfetch.index.v1.RemoveEntry;
import dev.ringfetch.index.v1.TransactOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * One of the two lists of operations of a transaction. The server carries them out in their order,
 * each sees the changes of those before it, and the result has an answer for each. At most one
 * operation changes a key.
 *
 * <p>Used by one thread.
 */
public final class TransactionOperations<K, V> {
  private final IndexRequests<K, V> requests;
  private final List<TransactOperation> operations = new ArrayList<>();
  private final List<K> keys = new ArrayList<>();

  TransactionOperations(IndexRequests<K, V> requests) {
    this.requests = requests;
  }

  /** Reads an entry. */
  public TransactionOperations<K, V> get(K key) {
    return add(key, TransactOperation.newBuilder().setGet(ReadEntry.getDefaultInstance()));
  }

  /** Writes a value, which stays until it is removed. */
  public TransactionOperations<K, V> put(K key, V value) {
    return put(key, value, TimeToLive.NONE);
  }

  /** Writes a value with a time to live, as of {@link KeyedIndex#put(Object, Object, Duration)}. */
  public TransactionOperations<K, V> put(K key, V value, Duration ttl) {
    return put(key, value, TimeToLive.millis(ttl));
  }

  private TransactionOperations<K, V> put(K key, V value, long ttlMs) {
    final TransactOperation.Builder operation = TransactOperation.newBuilder();
    operation.getPutBuilder().setValue(requests.encodeValue(value)).setTtlMs(ttlMs);
    return add(key, operation);
  }

  /** Removes a key. */
  public TransactionOperations<K, V> remove(K key) {
    return add(key, TransactOperation.newBuilder().setDelete(RemoveEntry.getDefaultInstance()));
  }

  /**
   * Adds to a counter, as {@link KeyedIndex#increment(Object, long)} does. A value that is no
   * counter, or would leave 64 bits, fails the whole transaction.
   */
  public TransactionOperations<K, V> increment(K key, long delta) {
    final TransactOperation.Builder operation = TransactOperation.newBuilder();
    operation.getIncrementBuilder().setDelta(delta);
    return add(key, operation);
  }

  private TransactionOperations<K, V> add(K key, TransactOperation.Builder operation) {
    operations.add(operation.setKey(requests.encodeKey(key)).build());
    keys.add(key);
    return this;
  }

  List<TransactOperation> operations() {
    return operations;
  }

  /** The key of an operation. */
  K key(int number) {
    return keys.get(number);
  }

  /** Whether an operation may change an entry. */
  boolean isWriting() {
    return operations.stream().anyMatch(operation -> !operation.hasGet());
  }
}
