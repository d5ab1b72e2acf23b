package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a read of many keys: one batch each. A batch whose answer is longer than a server's
 * limit is halved. Used by one thread at a time.
 */
final class GetAll<K, V> {
  /** The most keys of a batch. */
  static final int BATCH_KEYS = 1_000;

  /** Bytes of keys that end a batch: a server accepts requests of 4 MiB by default. */
  static final int BATCH_BYTES = 1 << 20;

  private final IndexRequests<K, V> requests;
  private final Subject subject;
  private final List<K> keys;
  private final List<ByteString> encoded = new ArrayList<>();
  private final Map<K, V> found = new LinkedHashMap<>();
  private int most = BATCH_KEYS;
  private int done;
  private int batch; // keys of the present batch

  GetAll(IndexRequests<K, V> requests, Subject subject, Collection<? extends K> keys) {
    this.requests = requests;
    this.subject = subject;
    this.keys = new ArrayList<>(keys);
    for (final K key : this.keys) {
      encoded.add(requests.encodeKey(key));
    }
  }

  /** Keys to be read, in all batches. */
  int count() {
    return keys.size();
  }

  boolean isDone() {
    return done == keys.size();
  }

  /** The next key, for a reader of memory. */
  ByteString nextKey() {
    return encoded.get(done);
  }

  /** The keys of the next batch. */
  List<ByteString> nextKeys() {
    int bytes = 0;
    int end = done;
    while (end < keys.size() && end - done < most && bytes < BATCH_BYTES) {
      bytes += encoded.get(end++).size();
    }
    batch = end - done;
    return encoded.subList(done, end);
  }

  Call<BatchGetRequest, BatchGetResponse> next() {
    return Call.reading(
        IndexGrpc.getBatchGetMethod(),
        BatchGetRequest.newBuilder().setIndex(requests.name()).addAllKeys(nextKeys()).build());
  }

  void answered(BatchGetResponse response) {
    if (response.getAnswersCount() != batch) {
      final String counts = "answers=" + response.getAnswersCount() + " keys=" + batch;
      throw Failures.unexpected(subject, counts, null);
    }
    for (final GetResponse answer : response.getAnswersList()) {
      if (answer.hasEntry()) {
        found.put(keys.get(done), requests.value(subject, answer.getEntry().getValue()));
      }
      done++;
    }
  }

  /** Notes the next key as present or absent, as a reader of memory found it. */
  void answered(boolean present, ByteString value) {
    if (present) {
      found.put(keys.get(done), requests.value(subject, value));
    }
    done++;
  }

  /** Throws if one of the keys is not a legal key. */
  void check() {
    for (final ByteString key : encoded) {
      final Status limit = EntryLimits.ofKey(key);
      if (limit != null) {
        throw Failures.of(new Subject(subject.operation(), subject.index(), key), limit, false);
      }
    }
  }

  /**
   * Halves a batch that has failed because its answer was too long. False if it had one key, or has
   * failed otherwise.
   */
  boolean halve(IndexException failure) {
    if (!(failure instanceof FullException) && !failure.isMessageTooLong()) {
      return false;
    }
    most = batch / 2;
    return most > 0;
  }

  /** The entries that there are, in the order of the keys. */
  Map<K, V> found() {
    return found;
  }
}
