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
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RunKernelRequest;
import dev.ringfetch.index.v1.RunKernelResponse;
import dev.ringfetch.index.v1.SearchRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import io.grpc.Status;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

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
        true,
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
        expectedVersion == 0,
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  Call<DeleteRequest, DeleteResponse> remove(ByteString key) {
    return Call.writing(
        IndexGrpc.getDeleteMethod(),
        DeleteRequest.newBuilder().setIndex(name).setKey(key).build(),
        false,
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  Call<UpdateRequest, UpdateResponse> increment(ByteString key, long delta, long ttlMs) {
    return update(
        key, true, request -> request.getIncrementBuilder().setDelta(delta).setTtlMs(ttlMs));
  }

  Call<UpdateRequest, UpdateResponse> getAndSet(ByteString key, ByteString value, long ttlMs) {
    return update(
        key, true, request -> request.getGetAndSetBuilder().setValue(value).setTtlMs(ttlMs));
  }

  Call<UpdateRequest, UpdateResponse> removeIf(ByteString key, long expectedVersion) {
    return update(
        key, false, request -> request.getDeleteIfBuilder().setExpectedVersion(expectedVersion));
  }

  /** The request of a change of a deadline, which either the time to live or the deadline gives. */
  Call<UpdateRequest, UpdateResponse> touch(
      ByteString key, long expectedVersion, long ttlMs, long deadlineMs) {
    return update(
        key,
        false,
        request ->
            request
                .getTouchBuilder()
                .setExpectedVersion(expectedVersion)
                .setTtlMs(ttlMs)
                .setDeadlineMs(deadlineMs));
  }

  private Call<UpdateRequest, UpdateResponse> update(
      ByteString key, boolean creating, Consumer<UpdateRequest.Builder> change) {
    final UpdateRequest.Builder request = UpdateRequest.newBuilder().setIndex(name).setKey(key);
    change.accept(request);
    return Call.writing(
        IndexGrpc.getUpdateMethod(),
        request.build(),
        creating,
        (changed, number) -> changed.toBuilder().setNumber(number).build());
  }

  Call<CountRequest, CountResponse> count(KeyRange range) {
    final CountRequest.Builder request = CountRequest.newBuilder().setIndex(name);
    return Call.reading(
        IndexGrpc.getCountMethod(), (range == null ? request : request.setRange(range)).build());
  }

  Call<CountRequest, CountResponse> countIn(Box box) {
    return Call.reading(
        IndexGrpc.getCountMethod(),
        CountRequest.newBuilder().setIndex(name).setIntersects(box.message()).build());
  }

  Call<RunKernelRequest, RunKernelResponse> kernel(String kernel, ByteString argument) {
    return Call.reading(
        IndexGrpc.getRunKernelMethod(),
        RunKernelRequest.newBuilder()
            .setIndex(name)
            .setKernel(kernel)
            .setArgument(argument)
            .build());
  }

  /** The request of a search, whose condition is still to be set. */
  SearchRequest.Builder search() {
    return SearchRequest.newBuilder().setIndex(name);
  }

  Call<NearestRequest, NearestResponse> nearest(NearestRequest.Builder request) {
    return Call.reading(IndexGrpc.getNearestMethod(), request.setIndex(name).build());
  }

  Call<DeleteRangeRequest, DeleteRangeResponse> deleteRange(KeyRange range) {
    return Call.writing(
        IndexGrpc.getDeleteRangeMethod(),
        DeleteRangeRequest.newBuilder().setIndex(name).setRange(range).build(),
        false,
        (request, number) -> request.toBuilder().setNumber(number).build());
  }

  WatchRequest watch(Box box, WatchOptions options) {
    return watch(KeyRange.getDefaultInstance(), options).toBuilder()
        .setIntersects(box.message())
        .build();
  }

  WatchRequest watch(KeyRange range, WatchOptions options) {
    final WatchRequest.Builder request =
        WatchRequest.newBuilder()
            .setIndex(name)
            .setRange(range)
            .setToken(options.token())
            .setKeysOnly(options.isKeysOnly());
    return options.filter() == null
        ? request.build()
        : request.setFilter(options.filter().message()).build();
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
        event.getCreated(),
        crossing(event));
  }

  private static Optional<IndexChange.Crossing> crossing(WatchEvent event) {
    return switch (event.getCrossing()) {
      case ENTER -> Optional.of(IndexChange.Crossing.ENTER);
      case MOVE -> Optional.of(IndexChange.Crossing.MOVE);
      case LEAVE -> Optional.of(IndexChange.Crossing.LEAVE);
      case CROSSING_UNSPECIFIED, UNRECOGNIZED -> Optional.empty();
    };
  }

  /** An entry whose key is known. */
  Optional<IndexEntry<K, V>> found(Subject subject, K key, boolean present, Entry entry) {
    return present
        ? Optional.of(entry(key, value(subject, entry.getValue()), entry))
        : Optional.empty();
  }

  /** The value that a write has replaced; fails if the server has not kept it for a repetition. */
  Optional<V> previous(Subject subject, UpdateResponse response) {
    if (response.getPreviousGone()) {
      throw new OutcomeGoneException(
          subject,
          Status.FAILED_PRECONDITION.withDescription(
              "the value was written, but the answer was lost with the value before: version="
                  + Long.toUnsignedString(response.getVersion())));
    }
    return response.hasPrevious()
        ? Optional.of(value(subject, response.getPrevious().getValue()))
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

  /** The version after a change that may not have been applied. */
  static OptionalLong version(UpdateResponse response) {
    return response.getApplied() ? OptionalLong.of(response.getVersion()) : OptionalLong.empty();
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
