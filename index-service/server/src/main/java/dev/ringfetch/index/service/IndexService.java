package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import dev.ringfetch.index.call.CallSignals;
import dev.ringfetch.index.call.CountCall;
import dev.ringfetch.index.call.FollowCall;
import dev.ringfetch.index.call.KernelCalls;
import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.call.RangeCalls;
import dev.ringfetch.index.call.Ranges;
import dev.ringfetch.index.call.ReadCall;
import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.call.SpatialCalls;
import dev.ringfetch.index.call.WriteCall;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.AppendResponse;
import dev.ringfetch.index.v1.BatchGetRequest;
import dev.ringfetch.index.v1.BatchGetResponse;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.CloseClientResponse;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DeleteResponse;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DescribeResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.FollowResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.RunKernelRequest;
import dev.ringfetch.index.v1.RunKernelResponse;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import dev.ringfetch.index.v1.StatusTexts;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.TransactResponse;
import dev.ringfetch.index.v1.UpdateRequest;
import dev.ringfetch.index.v1.UpdateResponse;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import dev.ringfetch.rpc.MalformedRequests;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Index service over a set of indexes.
 *
 * <p>Absence and a lost comparison are answers. A call ends in error only
 *
 * <ul>
 *   <li>with INVALID_ARGUMENT if a key is empty or longer than 1 KiB, a value longer than 1 MiB,
 *       the name of an index longer than 255 bytes, a time to live longer than 3650 days, or a
 *       batch of more than 10,000 keys, or a transaction beyond its limits; the description names
 *       the size and the limit; or if a box is none, in a request or at the begin of a value of a
 *       SPATIAL index;
 *   <li>with RESOURCE_EXHAUSTED if it would create one index too many, if index memory is full, or
 *       if the answer to a batch would be longer than the 4 MiB that a gRPC client takes unless
 *       told otherwise; or if too much waits: then the description begins with {@link
 *       StatusTexts#OVERLOADED}, and the same call may succeed at once;
 *   <li>with RESOURCE_EXHAUSTED if too many keys hash as the key of a put does: only keys that were
 *       chosen to collide are so many;
 *   <li>with ABORTED if the index was dropped under a write, which was not carried out, or under a
 *       call for a range;
 *   <li>with FAILED_PRECONDITION if it is for a range, and the index is not ORDERED; if it is a
 *       search by boxes, and the index is not SPATIAL; if it is a write with a number whose outcome
 *       is not kept any more; if it is a transaction of a hash index whose keys do not begin with
 *       one tag; or if it increments a value that is no counter; with OUT_OF_RANGE if the counter
 *       would leave 64 bits;
 *   <li>with DATA_LOSS if the index's memory was changed or taken away by another process: so end
 *       all calls for the index until it is dropped.
 * </ul>
 *
 * <p>An index is created, as an ORDERED one, by the first call that writes to it: reads, deletes
 * and lost comparisons create none.
 *
 * <p>Safe for use by many threads. No method waits: reads take no lock, and writes, and reads that
 * cannot be decided without a lock, are answered from the duty cycle of their partition's owner.
 * Calls for ranges go on, page by page, on threads of their own. So the handlers may run on the
 * threads of a transport.
 */
public final class IndexService implements IndexGrpc.AsyncService, BindableService {
  private static final int INCARNATION_BYTES =
      CodedOutputStream.computeFixed64Size(BatchGetResponse.INCARNATION_FIELD_NUMBER, 0);

  private static final GetResponse ABSENT = GetResponse.getDefaultInstance();

  private final Indexes indexes;
  private final Outcomes outcomes;
  private final RangeCalls ranges;
  private final SpatialCalls spatial;
  private final KernelCalls kernels;
  private final RequestNumbers numbers;
  private final IndexLookup lookup;
  private final ConditionalWrites conditional;
  private final BatchWrites batches;

  /** Serves these indexes, which others may use at the same time. */
  public IndexService(Indexes indexes) {
    this.indexes = indexes;
    this.outcomes = indexes.memory().statuses();
    this.ranges = new RangeCalls(outcomes, indexes.memory().threads().scanners());
    this.spatial = new SpatialCalls(ranges);
    this.kernels = new KernelCalls(Kernel.load(), outcomes, indexes.memory().threads().kernels());
    this.numbers = new RequestNumbers(indexes);
    this.lookup = new IndexLookup(indexes);
    this.conditional = new ConditionalWrites(indexes, numbers, lookup);
    this.batches = new BatchWrites(indexes, numbers, lookup);
  }

  @Override
  public ServerServiceDefinition bindService() {
    final ServerServiceDefinition service =
        LeanGet.boundTo(
            indexes.guarded(MalformedRequests.refusedBy(IndexGrpc.bindService(this))), indexes);
    indexes.bound(service);
    return service;
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      final ServedIndex index = indexes.find(request.getIndex());
      if (needsNoBarrier(index)) {
        get(index, request, responses);
      } else {
        lookup.read(
            request.getIndex(),
            responses,
            led -> {
              if (led == null) {
                WriteCall.answer(responses, ABSENT);
              } else {
                get(led, request, responses);
              }
            });
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void get(ServedIndex index, GetRequest request, StreamObserver<GetResponse> responses)
      throws StatusException {
    final ByteString key = request.getKey();
    final ServedIndex.LocalReader reader = index.reader();
    switch (reader.read(key)) {
      case FOUND -> WriteCall.answer(responses, got(index, reader.entry(key)));
      case ABSENT -> WriteCall.answer(responses, got(index, null));
      default ->
          new ReadCall<>(
                  List.of(key),
                  () -> lookup.known(request.getIndex()),
                  outcomes,
                  responses,
                  call -> call.index() == null ? ABSENT : got(call.index(), call.entry(0)))
              .start();
    }
  }

  private static GetResponse got(ServedIndex index, Entry entry) {
    final GetResponse.Builder response =
        GetResponse.newBuilder().setIncarnation(index.incarnation());
    return (entry == null ? response : response.setEntry(entry)).build();
  }

  @Override
  public void batchGet(BatchGetRequest request, StreamObserver<BatchGetResponse> responses) {
    try {
      final int count = request.getKeysCount();
      RequestLimits.checkBatch(count);
      for (int i = 0; i < count; i++) {
        RequestLimits.checkKey(request.getKeys(i));
      }
      if (needsNoBarrier(indexes.find(request.getIndex()))) {
        readAll(request, responses);
      } else {
        lookup.read(request.getIndex(), responses, index -> readAll(request, responses));
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void follow(FollowRequest request, StreamObserver<FollowResponse> responses) {
    try {
      final FollowCall call =
          new FollowCall(request, () -> lookup.known(request.getIndex()), outcomes, responses);
      if (needsNoBarrier(indexes.find(request.getIndex()))) {
        call.start();
      } else {
        lookup.read(request.getIndex(), responses, index -> call.start());
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void readAll(BatchGetRequest request, StreamObserver<BatchGetResponse> responses)
      throws StatusException {
    new ReadCall<>(
            request.getKeysList(),
            () -> lookup.known(request.getIndex()),
            outcomes,
            responses,
            IndexService::gotAll)
        .start();
  }

  private static BatchGetResponse gotAll(ReadCall<BatchGetResponse> call) throws StatusException {
    final BatchGetResponse.Builder response = BatchGetResponse.newBuilder();
    if (call.index() != null) {
      response.setIncarnation(call.index().incarnation());
    }
    int size = call.index() == null ? 0 : INCARNATION_BYTES;
    for (int i = 0; i < call.count(); i++) {
      final Entry entry = call.entry(i);
      final GetResponse answer =
          entry == null ? ABSENT : GetResponse.newBuilder().setEntry(entry).build();
      // The messages remember their sizes, so this is work that serializing them saves.
      size += CodedOutputStream.computeMessageSize(BatchGetResponse.ANSWERS_FIELD_NUMBER, answer);
      if (size > ReadCall.MAX_ANSWER_BYTES) {
        throw ReadCall.answerTooLong(i, call.count());
      }
      response.addAnswers(answer);
    }
    return response.build();
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      RequestLimits.checkValue(request.getValue());
      RequestLimits.checkTtl(request.getTtlMs());
      final ServedIndex found = indexes.find(request.getIndex());
      if (found != null) {
        put(found, request, responses);
      } else {
        lookup.whenKnown(request.getIndex(), responses, known -> put(known, request, responses));
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void put(ServedIndex found, PutRequest request, StreamObserver<PutResponse> responses)
      throws StatusException {
    final NumberedClient client = client(found, request.hasNumber(), request.getNumber(), 1);
    if (found == null) {
      lookup.whenCreated(request.getIndex(), responses, index -> put(index, request, responses));
      return;
    }
    submit(
        found,
        new Write(new WriteCall<>(found, outcomes, responses, IndexService::written))
            .put(request.getKey(), request.getValue())
            .ttl(request.getTtlMs())
            .numbered(client, request.getNumber().getNumber()));
  }

  @Override
  public void delete(DeleteRequest request, StreamObserver<DeleteResponse> responses) {
    try {
      RequestLimits.checkKey(request.getKey());
      final ServedIndex found = indexes.find(request.getIndex());
      if (found != null) {
        delete(found, request, responses);
      } else {
        lookup.whenKnown(request.getIndex(), responses, known -> delete(known, request, responses));
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void delete(
      ServedIndex index, DeleteRequest request, StreamObserver<DeleteResponse> responses)
      throws StatusException {
    final NumberedClient client = client(index, request.hasNumber(), request.getNumber(), 1);
    if (index == null) {
      WriteCall.answer(responses, DeleteResponse.getDefaultInstance());
      return;
    }
    submit(
        index,
        new Write(new WriteCall<>(index, outcomes, responses, IndexService::deleted))
            .delete(request.getKey())
            .numbered(client, request.getNumber().getNumber()));
  }

  @Override
  public void compareAndSet(
      CompareAndSetRequest request, StreamObserver<CompareAndSetResponse> responses) {
    conditional.compareAndSet(request, responses);
  }

  @Override
  public void update(UpdateRequest request, StreamObserver<UpdateResponse> responses) {
    conditional.update(request, responses);
  }

  @Override
  public void transact(TransactRequest request, StreamObserver<TransactResponse> responses) {
    conditional.transact(request, responses);
  }

  private static PutResponse written(ServedIndex index, Write write) {
    return PutResponse.newBuilder()
        .setVersion(write.version())
        .setCreated(write.created())
        .setIncarnation(index.incarnation())
        .build();
  }

  private static DeleteResponse deleted(ServedIndex index, Write write) {
    return DeleteResponse.newBuilder()
        .setExisted(write.existed())
        .setIncarnation(index.incarnation())
        .build();
  }

  @Override
  public void batchPut(BatchPutRequest request, StreamObserver<BatchPutResponse> responses) {
    batches.batchPut(request, responses);
  }

  @Override
  public void append(AppendRequest request, StreamObserver<AppendResponse> responses) {
    batches.append(request, responses);
  }

  @Override
  public void scan(ScanRequest request, StreamObserver<ScanResponse> responses) {
    scan(request, responses, true);
  }

  @Override
  public void scanPage(ScanRequest request, StreamObserver<ScanResponse> responses) {
    scan(request, responses, false);
  }

  private void scan(ScanRequest request, StreamObserver<ScanResponse> responses, boolean all) {
    lookup.begin(
        request.getIndex(),
        request,
        responses,
        (index, asked, signals) -> ranges.scan(index, asked, signals, all));
  }

  @Override
  public void search(SearchRequest request, StreamObserver<ScanResponse> responses) {
    search(request, responses, true);
  }

  @Override
  public void searchPage(SearchRequest request, StreamObserver<ScanResponse> responses) {
    search(request, responses, false);
  }

  private void search(SearchRequest request, StreamObserver<ScanResponse> responses, boolean all) {
    lookup.begin(
        request.getIndex(),
        request,
        responses,
        (index, asked, signals) -> spatial.search(index, asked, signals, all));
  }

  @Override
  public void nearest(NearestRequest request, StreamObserver<NearestResponse> responses) {
    lookup.begin(request.getIndex(), request, responses, spatial::nearest);
  }

  @Override
  public void runKernel(RunKernelRequest request, StreamObserver<RunKernelResponse> responses) {
    final CallSignals<RunKernelResponse> signals = new CallSignals<>(responses);
    lookup.read(request.getIndex(), responses, index -> kernels.run(index, request, signals));
  }

  @Override
  public void deleteRange(
      DeleteRangeRequest request, StreamObserver<DeleteRangeResponse> responses) {
    lookup.begin(
        request.getIndex(),
        request,
        responses,
        (index, asked, signals) -> {
          final NumberedClient client = client(index, request.hasNumber(), request.getNumber(), 1);
          ranges.deleteRange(index, client, asked, signals);
        });
  }

  @Override
  public void count(CountRequest request, StreamObserver<CountResponse> responses) {
    if (request.hasIntersects()) {
      lookup.begin(request.getIndex(), request, responses, spatial::count);
    } else if (Ranges.isAll(request.getRange()) && !request.hasFilter() && !request.hasSummary()) {
      lookup.read(request.getIndex(), responses, index -> CountCall.answerAll(index, responses));
    } else {
      lookup.begin(request.getIndex(), request, responses, ranges::count);
    }
  }

  @Override
  public void watch(WatchRequest request, StreamObserver<WatchResponse> responses) {
    lookup.begin(request.getIndex(), request, responses, indexes.watches()::watch);
  }

  @Override
  public void openClient(OpenClientRequest request, StreamObserver<OpenClientResponse> responses) {
    lookup.whenKnown(
        request.getIndex(),
        responses,
        found -> {
          if (found != null) {
            numbers.open(found, request, responses);
          } else if (request.getExisting()) {
            throw Outcomes.absent(request.getIndex()).asException();
          } else {
            lookup.whenCreated(
                request.getIndex(), responses, index -> numbers.open(index, request, responses));
          }
        });
  }

  @Override
  public void closeClient(
      CloseClientRequest request, StreamObserver<CloseClientResponse> responses) {
    lookup.whenKnown(
        request.getIndex(), responses, index -> numbers.close(index, request, responses));
  }

  @Override
  public void describe(DescribeRequest request, StreamObserver<DescribeResponse> responses) {
    lookup.read(
        request.getIndex(),
        responses,
        index ->
            WriteCall.answer(
                responses,
                index == null
                    ? DescribeResponse.getDefaultInstance()
                    : DescribeResponse.newBuilder().setIndex(indexes.describe(index)).build()));
  }

  /**
   * The client of a request's number; null if it has none.
   *
   * @param index that the write then goes to, looked up once: where this node has lost and won the
   *     lead of an index meanwhile, that has other clients
   */
  private @Nullable NumberedClient client(
      ServedIndex index, boolean hasNumber, RequestNumber number, int writes)
      throws StatusException {
    return hasNumber ? numbers.client(index, number, writes) : null;
  }

  /** True if a read of this index may look at the store at once; calls look here first. */
  private static boolean needsNoBarrier(ServedIndex index) {
    return index != null && !index.needsBarrier();
  }

  private void submit(ServedIndex index, Write write) throws StatusException {
    final int refused = index.partition(write.key()).submit(write);
    if (refused != 0) {
      throw outcomes.status(index, refused).asException();
    }
  }
}
