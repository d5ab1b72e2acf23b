package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import java.util.Optional;

/** The requests of a view, and the translation of their answers. Immutable. */
final class IndexRequests<K, V> {
  private final String name;
  private final Codec<K> keys;
  private final Codec<V> values;

  IndexRequests(String name, Codec<K> keys, Codec<V> values) {
    this.name = name;
    this.keys = keys;
    this.values = values;
  }

  String name() {
    return name;
  }

  ByteString encodeKey(K key) {
    return keys.encode(key);
  }

  ByteString encodeValue(V value) {
    return values.encode(value);
  }

  Call<GetRequest, GetResponse> get(ByteString key) {
    return Call.reading(
        IndexGrpc.getGetMethod(), GetRequest.newBuilder().setIndex(name).setKey(key).build());
  }

  Call<PutRequest, PutResponse> put(ByteString key, ByteString value, long ttlMs) {
    return Call.writing(
        IndexGrpc.getPutMethod(),
        PutRequest.newBuilder().setIndex(name).setKey(key).setValue(value).setTtlMs(ttlMs).build(),
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  /** The request of a conditional write; the time to live may be {@link TimeToLive#KEPT}. */
  Call<CompareAndSetRequest, CompareAndSetResponse> compareAndSet(
      ByteString key, long expectedVersion, ByteString value, long ttlMs) {
    final boolean isKept = ttlMs == TimeToLive.KEPT;
    return Call.writing(
        IndexGrpc.getCompareAndSetMethod(),
        CompareAndSetRequest.newBuilder()
            .setIndex(name)
            .setKey(key)
            .setValue(value)
            .setExpectedVersion(expectedVersion)
            .setTtlMs(isKept ? TimeToLive.NONE : ttlMs)
            .setKeepDeadline(isKept)
            .build(),
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  Call<DeleteRequest, DeleteResponse> remove(ByteString key) {
    return Call.writing(
        IndexGrpc.getDeleteMethod(),
        DeleteRequest.newBuilder().setIndex(name).setKey(key).build(),
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  Call<CountRequest, CountResponse> count(KeyRange range) {
    final CountRequest.Builder request = CountRequest.newBuilder().setIndex(name);
    return Call.reading(
        IndexGrpc.getCountMethod(), (range == null ? request : request.setRange(range)).build());
  }

  Call<DeleteRangeRequest, DeleteRangeResponse> deleteRange(KeyRange range) {
    return Call.writing(
        IndexGrpc.getDeleteRangeMethod(),
        DeleteRangeRequest.newBuilder().setIndex(name).setRange(range).build(),
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  WatchRequest watch(KeyRange range, WatchOptions options) {
    return WatchRequest.newBuilder()
        .setIndex(name)
        .setRange(range)
        .setToken(options.token())
        .setKeysOnly(options.isKeysOnly())
        .build();
  }

  /** A change of a watch. */
  IndexChange<K, V> change(Subject subject, WatchEvent event, boolean keysOnly) {
    final IndexChange.Kind kind =
        switch (event.getKind()) {
          case PUT -> IndexChange.Kind.PUT;
          case DELETE -> IndexChange.Kind.DELETE;
          case EXPIRE -> IndexChange.Kind.EXPIRE;
          default ->
              throw Failures.unexpected(subject, "kind of change=" + event.getKindValue(), null);
        };
    return new IndexChange<>(
        kind,
        decode(subject, "a key", keys, event.getKey()),
        kind == IndexChange.Kind.PUT && !keysOnly
            ? Optional.of(value(subject, event.getValue()))
            : Optional.empty(),
        event.getVersion(),
        event.getCreated());
  }

  /** An entry whose key is known. */
  Optional<IndexEntry<K, V>> found(Subject subject, K key, boolean present, Entry entry) {
    return present
        ? Optional.of(entry(key, value(subject, entry.getValue()), entry))
        : Optional.empty();
  }

  /** An entry of a range. */
  IndexEntry<K, V> entry(Subject subject, Entry entry) {
    return entry(key(subject, entry), value(subject, entry.getValue()), entry);
  }

  private IndexEntry<K, V> entry(K key, V value, Entry entry) {
    return new IndexEntry<>(
        key, value, entry.getVersion(), IndexEntry.deadline(entry.getDeadlineMs()));
  }

  K key(Subject subject, Entry entry) {
    return decode(subject, "a key", keys, entry.getKey());
  }

  V value(Subject subject, ByteString bytes) {
    return decode(subject, "a value", values, bytes);
  }

  private static <T> T decode(Subject subject, String what, Codec<T> codec, ByteString bytes) {
    try {
      return codec.decode(bytes);
    } catch (RuntimeException e) {
      throw Failures.unexpected(subject, "cannot decode " + what + " as " + codec, e);
    }
  }
}
