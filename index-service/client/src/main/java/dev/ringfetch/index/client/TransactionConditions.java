package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Comparison;
import dev.ringfetch.index.v1.Comparison.Relation;
import dev.ringfetch.index.v1.TransactRequest;

/**
 * The conditions of a transaction, all of which must hold. The version of a key without an entry is
 * 0. No condition on a value holds for a key without an entry. Values compare by their bytes, so
 * greater and less need a codec that keeps the order, such as {@link Codec#int64}.
 *
 * <p>Used by one thread.
 */
public final class TransactionConditions<K, V> {
  private final IndexRequests<K, V> requests;
  private final TransactRequest.Builder request;

  TransactionConditions(IndexRequests<K, V> requests, TransactRequest.Builder request) {
    this.requests = requests;
    this.request = request;
  }

  /** The key has an entry. */
  public TransactionConditions<K, V> exists(K key) {
    return version(key, Relation.GREATER, 0);
  }

  /** The key has no entry. */
  public TransactionConditions<K, V> absent(K key) {
    return version(key, Relation.EQUAL, 0);
  }

  /** The entry has this version. */
  public TransactionConditions<K, V> version(K key, long version) {
    return version(key, Relation.EQUAL, version);
  }

  /** The entry has a greater version. */
  public TransactionConditions<K, V> versionGreater(K key, long version) {
    return version(key, Relation.GREATER, version);
  }

  /** The entry has a lesser version, or there is none. */
  public TransactionConditions<K, V> versionLess(K key, long version) {
    return version(key, Relation.LESS, version);
  }

  /** The entry has this value. */
  public TransactionConditions<K, V> value(K key, V value) {
    return value(key, Relation.EQUAL, value);
  }

  /** The entry has another value. */
  public TransactionConditions<K, V> valueNot(K key, V value) {
    return value(key, Relation.NOT_EQUAL, value);
  }

  /** The entry has a greater value. */
  public TransactionConditions<K, V> valueGreater(K key, V value) {
    return value(key, Relation.GREATER, value);
  }

  /** The entry has a lesser value. */
  public TransactionConditions<K, V> valueLess(K key, V value) {
    return value(key, Relation.LESS, value);
  }

  private TransactionConditions<K, V> version(K key, Relation relation, long version) {
    return add(Comparison.newBuilder().setVersion(version), key, relation);
  }

  private TransactionConditions<K, V> value(K key, Relation relation, V value) {
    final ByteString encoded = requests.encodeValue(value);
    return add(Comparison.newBuilder().setValue(encoded), key, relation);
  }

  private TransactionConditions<K, V> add(Comparison.Builder comparison, K key, Relation relation) {
    request.addComparisons(comparison.setKey(requests.encodeKey(key)).setRelation(relation));
    return this;
  }
}
