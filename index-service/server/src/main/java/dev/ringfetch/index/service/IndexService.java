package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import dev.ringfetch.index.store.HashStore;
import dev.ringfetch.index.store.Indexes;
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
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;

/**
 * The Index service over a set of hash stores.
 *
 * <p>Absence and a lost comparison are answers. A call ends in error only
 *
 * <ul>
 *   <li>with INVALID_ARGUMENT if a key is empty or longer than 1 KiB, a value longer than 1 MiB,
 *       the name of an index longer than 255 bytes, or a batch of more than 10,000 keys; the
 *       description names the size and the limit;
 *   <li>with RESOURCE_EXHAUSTED if it would create one index too many, or if the answer to a batch
 *       would be longer than the 4 MiB that a gRPC client takes unless told otherwise.
 * </ul>
 *
 * <p>An index is created by the first call that writes to it: reads, deletes and lost comparisons
 * create none.
 *
 * <p>Safe for use by many threads. No method waits for anything but other writes of a key, so the
 * handlers may run on the threads of a transport.
 */
public final class IndexService extends IndexGrpc.IndexImplBase {
  /**
   * Longest answer to a batch, serialized. A longer one would only fail at the client, after all of
   * it was built and sent; without any bound, a batch could ask for more than a message can hold.
   */
  static final int MAX_ANSWER_BYTES = 4 * 1024 * 1024;

  private static final GetResponse ABSENT = GetResponse.getDefaultInstance();

  private final Indexes indexes;

  /** Serves these indexes, which others may use at the same time. */
  public IndexService(Indexes indexes) {
    this.indexes = indexes;
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      answer(responses, look(storeToRead(request.getIndex()), request.getKey()));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void batchGet(BatchGetRequest request, StreamObserver<BatchGetResponse> responses) {
    try {
      final int count = request.getKeysCount();
      RequestLimits.checkBatch(count);
      for (int i = 0; i < count; i++) {
        RequestLimits.checkKey(request.getKeys(i));
      }
      final HashStore store = storeToRead(request.getIndex());
      final BatchGetResponse.Builder response = BatchGetResponse.newBuilder();
      int size = 0;
      for (int i = 0; i < count; i++) {
        final GetResponse found = look(store, request.getKeys(i));
        // The messages remember their sizes, so this is work that serializing them saves.
        size += CodedOutputStream.computeMessageSize(BatchGetResponse.ANSWERS_FIELD_NUMBER, found);
        if (size > MAX_ANSWER_BYTES) {
          throw answerTooLong(i, count);
        }
        response.addAnswers(found);
      }
      answer(responses, response.build());
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      RequestLimits.checkValue(request.getValue());
      final HashStore store = storeToWrite(request.getIndex());
      final HashStore.PutResult result = store.put(request.getKey(), request.getValue());
      answer(
          responses,
          PutResponse.newBuilder()
              .setVersion(result.version())
              .setCreated(result.created())
              .build());
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void delete(DeleteRequest request, StreamObserver<DeleteResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      final HashStore store = storeToRead(request.getIndex());
      final boolean existed = store != null && store.delete(request.getKey());
      answer(responses, DeleteResponse.newBuilder().setExisted(existed).build());
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void compareAndSet(
      CompareAndSetRequest request, StreamObserver<CompareAndSetResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      RequestLimits.checkValue(request.getValue());
      answer(responses, compareAndSet(request));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private CompareAndSetResponse compareAndSet(CompareAndSetRequest request) throws StatusException {
    final long expected = request.getExpectedVersion();
    final HashStore store =
        expected == 0 ? storeToWrite(request.getIndex()) : storeToRead(request.getIndex());
    if (store == null) {
      return CompareAndSetResponse.getDefaultInstance();
    }
    final HashStore.CompareResult result =
        store.compareAndSet(request.getKey(), expected, request.getValue());
    final CompareAndSetResponse.Builder response =
        CompareAndSetResponse.newBuilder().setApplied(result.applied());
    if (result.entry() != null) {
      response.setEntry(result.entry());
    }
    return response.build();
  }

  /** The index of that name, or null if there is none. */
  private HashStore storeToRead(String name) throws StatusException {
    final HashStore found = indexes.find(name);
    if (found == null) {
      // Only here: a name under which there is an index was checked when that was created.
      RequestLimits.checkIndexName(name);
    }
    return found;
  }

  /** The index of that name, new if need be. */
  private HashStore storeToWrite(String name) throws StatusException {
    final HashStore found = storeToRead(name);
    final HashStore store = found != null ? found : indexes.findOrCreate(name);
    if (store == null) {
      throw Status.RESOURCE_EXHAUSTED
          .withDescription("too many indexes: limit=" + Indexes.MAX_INDEXES)
          .asException();
    }
    return store;
  }

  private static GetResponse look(HashStore store, ByteString key) {
    final Entry entry = store == null ? null : store.get(key);
    return entry == null ? ABSENT : GetResponse.newBuilder().setEntry(entry).build();
  }

  private static StatusException answerTooLong(int fitting, int count) {
    final String description = "answer is too long: limit=" + MAX_ANSWER_BYTES + " bytes";
    return Status.RESOURCE_EXHAUSTED
        .withDescription(description + ", room for " + fitting + " of " + count + " entries")
        .asException();
  }

  private static <T> void answer(StreamObserver<T> responses, T response) {
    responses.onNext(response);
    responses.onCompleted();
  }
}
