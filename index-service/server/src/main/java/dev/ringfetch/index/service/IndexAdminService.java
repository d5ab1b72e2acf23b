package dev.ringfetch.index.service;

import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.call.WriteCall;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.ListFilesRequest;
import dev.ringfetch.index.v1.ListFilesResponse;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.ListIndexesResponse;
import dev.ringfetch.index.v1.ReadFileRequest;
import dev.ringfetch.index.v1.ReadFileResponse;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import dev.ringfetch.index.v1.ServerView;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.SnapshotResponse;
import dev.ringfetch.rpc.MalformedRequests;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;

/**
 * The IndexAdmin service over a set of indexes. A kind that is not served is UNIMPLEMENTED, one
 * that an existing index does not have ALREADY_EXISTS; names longer than 255 bytes are
 * INVALID_ARGUMENT.
 *
 * <p>Safe for use by many threads. A drop is answered when the index's writers have ended, without
 * a thread that waits for them.
 */
public final class IndexAdminService implements BindableService, IndexAdminGrpc.AsyncService {
  private static final Status NO_JOURNAL =
      Status.FAILED_PRECONDITION.withDescription("no index is kept on disk: there is no journal");

  private final Indexes indexes;

  /** Administers these indexes. */
  public IndexAdminService(Indexes indexes) {
    this.indexes = indexes;
  }

  @Override
  public ServerServiceDefinition bindService() {
    return MeasuredCalls.of(
        indexes.guarded(MalformedRequests.refusedBy(IndexAdminGrpc.bindService(this))),
        indexes.callMetrics());
  }

  @Override
  public void createIndex(
      CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
    try {
      RequestLimits.checkIndexName(request.getIndex());
      checkKind(request);
      checkDurability(request);
      checkReplicas(request.getReplicas());
      checkAppends(request);
      indexes.checkStarted();
      indexes
          .catalog()
          .create(
              request,
              answer(
                  responses,
                  (incarnation, created) ->
                      CreateIndexResponse.newBuilder()
                          .setCreated(created)
                          .setIncarnation(incarnation)
                          .build()));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private static void checkReplicas(int replicas) throws StatusException {
    if (replicas < 0 || replicas > IndexCatalog.REPLICAS_MAX) { // unsigned
      throw Status.INVALID_ARGUMENT
          .withDescription(
              "too many: replicas="
                  + Integer.toUnsignedString(replicas)
                  + " limit="
                  + IndexCatalog.REPLICAS_MAX)
          .asException();
    }
  }

  private static void checkAppends(CreateIndexRequest request) throws StatusException {
    if (!request.hasAppends()) {
      return;
    }
    RequestLimits.checkTtl(request.getAppends().getRetentionMs());
    final long bytes = request.getAppends().getRetentionBytes();
    if (request.getKind() == IndexKind.HASH || request.getKind() == IndexKind.SPATIAL) {
      throw Status.INVALID_ARGUMENT
          .withDescription("an index for appends is ORDERED: kind=" + request.getKind())
          .asException();
    }
    if (bytes < 0) { // unsigned
      throw Status.INVALID_ARGUMENT
          .withDescription(
              "too many: retention_bytes="
                  + Long.toUnsignedString(bytes)
                  + " limit="
                  + Long.MAX_VALUE)
          .asException();
    }
  }

  private static void checkDurability(CreateIndexRequest request) throws StatusException {
    if (request.getDurability() == Durability.UNRECOGNIZED) {
      throw Status.UNIMPLEMENTED
          .withDescription("durability=" + request.getDurabilityValue() + " is unknown")
          .asException();
    }
  }

  private static void checkKind(CreateIndexRequest request) throws StatusException {
    switch (request.getKind()) {
      case INDEX_KIND_UNSPECIFIED, HASH, ORDERED, SPATIAL -> {}
      case UNRECOGNIZED ->
          throw Status.UNIMPLEMENTED
              .withDescription("kind=" + request.getKindValue() + " is unknown")
              .asException();
    }
  }

  @Override
  public void dropIndex(DropIndexRequest request, StreamObserver<DropIndexResponse> responses) {
    indexes
        .catalog()
        .drop(
            request.getIndex(),
            request.getIncarnation(),
            answer(
                responses,
                (incarnation, existed) ->
                    DropIndexResponse.newBuilder()
                        .setExisted(existed)
                        .setIncarnation(incarnation)
                        .build()));
  }

  @Override
  public void recoverIndex(
      RecoverIndexRequest request, StreamObserver<RecoverIndexResponse> responses) {
    indexes
        .catalog()
        .recover(
            request,
            (response, failure) -> {
              if (failure != null) {
                responses.onError(failure);
              } else {
                WriteCall.answer(responses, response);
              }
            });
  }

  @Override
  public void listIndexes(
      ListIndexesRequest request, StreamObserver<ListIndexesResponse> responses) {
    try {
      indexes.checkStarted();
    } catch (StatusException e) {
      responses.onError(e);
      return;
    }
    indexes
        .catalog()
        .afterSync(
            () ->
                WriteCall.answer(
                    responses, list().addAllIndexes(indexes.catalog().ledElsewhere()).build()),
            responses::onError);
  }

  private ListIndexesResponse.Builder list() {
    final ListIndexesResponse.Builder response = ListIndexesResponse.newBuilder();
    for (final ServedIndex index : indexes.all()) {
      response.addIndexes(indexes.describe(index));
    }
    return response;
  }

  @Override
  public void snapshot(SnapshotRequest request, StreamObserver<SnapshotResponse> responses) {
    try {
      indexes.checkStarted();
      final IndexJournal journal = indexes.memory().journal();
      if (journal == null) {
        throw NO_JOURNAL.asException();
      }
      journal.snapshot(new SnapshotCall(responses));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void listFiles(ListFilesRequest request, StreamObserver<ListFilesResponse> responses) {
    read(DirectoryFiles::list, responses);
  }

  @Override
  public void readFile(ReadFileRequest request, StreamObserver<ReadFileResponse> responses) {
    read(files -> files.read(request), responses);
  }

  /** A question to the files of the data directory. */
  @FunctionalInterface
  private interface Reading<T> {
    T of(DirectoryFiles files) throws StatusException;
  }

  /** Answers on the thread that waits for the disk. */
  private <T> void read(Reading<T> reading, StreamObserver<T> responses) {
    final IndexMemory memory = indexes.memory();
    final DataDirectory data = memory.data();
    if (data == null) {
      responses.onError(NO_JOURNAL.asException());
      return;
    }
    final DirectoryFiles files =
        new DirectoryFiles(HostDisk.readOnly(data.path()), memory.process());
    try {
      memory
          .threads()
          .historian()
          .execute(
              () -> {
                try {
                  WriteCall.answer(responses, reading.of(files));
                } catch (StatusException e) {
                  responses.onError(e);
                } catch (RuntimeException e) {
                  responses.onError(Status.INTERNAL.withCause(e).asException());
                  throw e;
                }
              });
    } catch (RejectedExecutionException e) {
      responses.onError(Status.UNAVAILABLE.withDescription("the server ends").asException());
    }
  }

  @Override
  public void describeServer(
      DescribeServerRequest request, StreamObserver<DescribeServerResponse> responses) {
    WriteCall.answer(responses, indexes.memory().describe());
  }

  /** All that this service describes, in one message, for the program of the server. */
  public ServerView view() {
    final ServerView.Builder view = ServerView.newBuilder().setServer(indexes.memory().describe());
    if (indexes.catalog().isOfCluster()) {
      view.setCluster(indexes.catalog().describe());
    }
    try {
      indexes.checkStarted();
    } catch (StatusException e) { // then it has no indexes yet
      return view.build();
    }
    return view.addAllIndexes(
            list().addAllIndexes(indexes.catalog().ledElsewhere()).getIndexesList())
        .build();
  }

  @Override
  public void describeCluster(
      DescribeClusterRequest request, StreamObserver<DescribeClusterResponse> responses) {
    WriteCall.answer(
        responses,
        indexes.catalog().isOfCluster()
            ? indexes.catalog().describe()
            : DescribeClusterResponse.getDefaultInstance());
  }

  /** Answers when the index serves, or is dropped. */
  private static <T> IndexCatalog.Created answer(
      StreamObserver<T> responses, BiFunction<Long, Boolean, T> response) {
    return (incarnation, done, failure) -> {
      if (failure != null) {
        responses.onError(failure);
      } else {
        WriteCall.answer(responses, response.apply(incarnation, done));
      }
    };
  }

  /** Answers when the snapshot is there, or has failed. */
  private record SnapshotCall(StreamObserver<SnapshotResponse> responses)
      implements SnapshotCycle.Listener {
    @Override
    public void onSnapshot(SnapshotCycle.Taken snapshot) {
      WriteCall.answer(
          responses,
          SnapshotResponse.newBuilder()
              .setNumber(snapshot.number())
              .setBytes(snapshot.length())
              .setRecords(snapshot.records())
              .setJournalPosition(snapshot.begin())
              .build());
    }

    @Override
    public void onFailure(IOException failure) {
      responses.onError(
          Status.FAILED_PRECONDITION
              .withDescription("no snapshot was taken: " + failure.getMessage())
              .withCause(failure)
              .asException());
    }
  }
}
