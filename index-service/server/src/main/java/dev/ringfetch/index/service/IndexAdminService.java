package dev.ringfetch.index.service;

import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.call.RequestLimits;
import dev.ringfetch.index.call.WriteCall;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.journal.SnapshotCycle;
import dev.ringfetch.index.node.LeaderDirectory;
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
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.ListIndexesResponse;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.SnapshotResponse;
import dev.ringfetch.rpc.MalformedRequests;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;

/**
 * The IndexAdmin service over a set of indexes. A kind that is not served is UNIMPLEMENTED, one
 * that an existing index does not have ALREADY_EXISTS; names longer than 255 bytes are
 * INVALID_ARGUMENT.
 *
 * <p>Safe for use by many threads. A drop is answered when the index's writers have ended, without
 * a thread that waits for them.
 */
public final class IndexAdminService implements BindableService, IndexAdminGrpc.AsyncService {
  private final Indexes indexes;

  /** Administers these indexes. */
  public IndexAdminService(Indexes indexes) {
    this.indexes = indexes;
  }

  @Override
  public ServerServiceDefinition bindService() {
    return MalformedRequests.refusedBy(IndexAdminGrpc.bindService(this));
  }

  @Override
  public void createIndex(
      CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
    try {
      RequestLimits.checkIndexName(request.getIndex());
      checkKind(request);
      checkDurability(request);
      if (indexes.directory() != null) {
        checkClustered(request.getDurability());
        checkReplicas(request.getReplicas());
        indexes
            .directory()
            .create(
                request.getIndex(),
                request.getKind(),
                request.getDurability(),
                request.getReplicas(),
                new CreateCall(responses));
        return;
      }
      final Indexes.Creation creation =
          indexes.create(request.getIndex(), request.getKind(), request.getDurability());
      creation.index().whenRecorded(() -> created(creation, responses));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void created(Indexes.Creation creation, StreamObserver<CreateIndexResponse> responses) {
    if (creation.index().durability() != Durability.MEMORY
        && indexes.memory().statuses().isJournalFailed()) {
      responses.onError(Outcomes.unknown().asException());
      return;
    }
    WriteCall.answer(
        responses,
        CreateIndexResponse.newBuilder()
            .setCreated(creation.created())
            .setIncarnation(creation.index().incarnation())
            .build());
  }

  private void checkClustered(Durability durability) throws StatusException {
    indexes.checkStarted();
    if (durability == Durability.INTERVAL) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              "a cluster has the levels MEMORY, LEADER_DISK and DISK: durability=" + durability)
          .asException();
    }
  }

  private static void checkReplicas(int replicas) throws StatusException {
    if (replicas < 0 || replicas > LeaderDirectory.REPLICAS_MAX) { // unsigned
      throw Status.INVALID_ARGUMENT
          .withDescription(
              "too many: replicas="
                  + Integer.toUnsignedString(replicas)
                  + " limit="
                  + LeaderDirectory.REPLICAS_MAX)
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
      case INDEX_KIND_UNSPECIFIED, HASH, ORDERED -> {}
      case SPATIAL ->
          throw Status.UNIMPLEMENTED
              .withDescription("kind=" + request.getKind() + " is not served yet")
              .asException();
      case UNRECOGNIZED ->
          throw Status.UNIMPLEMENTED
              .withDescription("kind=" + request.getKindValue() + " is unknown")
              .asException();
    }
  }

  @Override
  public void dropIndex(DropIndexRequest request, StreamObserver<DropIndexResponse> responses) {
    if (indexes.directory() != null) {
      indexes.directory().drop(request.getIndex(), new DropCall(responses));
      return;
    }
    try {
      if (!indexes.drop(request.getIndex(), dropped -> dropped(dropped, responses))) {
        WriteCall.answer(responses, DropIndexResponse.getDefaultInstance());
      }
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  private void dropped(ServedIndex dropped, StreamObserver<DropIndexResponse> responses) {
    if (dropped.durability() != Durability.MEMORY
        && indexes.memory().statuses().isJournalFailed()) {
      responses.onError(Outcomes.unknown().asException());
      return;
    }
    WriteCall.answer(
        responses,
        DropIndexResponse.newBuilder()
            .setExisted(true)
            .setIncarnation(dropped.incarnation())
            .build());
  }

  @Override
  public void recoverIndex(
      RecoverIndexRequest request, StreamObserver<RecoverIndexResponse> responses) {
    if (indexes.directory() == null) {
      responses.onError(
          Status.FAILED_PRECONDITION
              .withDescription("the server belongs to no cluster")
              .asException());
      return;
    }
    indexes
        .directory()
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
    if (indexes.directory() == null) {
      WriteCall.answer(responses, list().build());
      return;
    }
    indexes
        .directory()
        .afterSync(
            () ->
                WriteCall.answer(
                    responses, list().addAllIndexes(indexes.directory().ledElsewhere()).build()),
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
        throw Status.FAILED_PRECONDITION
            .withDescription("no index is kept on disk: there is no journal")
            .asException();
      }
      journal.snapshot(new SnapshotCall(responses));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void describeServer(
      DescribeServerRequest request, StreamObserver<DescribeServerResponse> responses) {
    WriteCall.answer(responses, indexes.memory().describe());
  }

  @Override
  public void describeCluster(
      DescribeClusterRequest request, StreamObserver<DescribeClusterResponse> responses) {
    WriteCall.answer(
        responses,
        indexes.directory() == null
            ? DescribeClusterResponse.getDefaultInstance()
            : indexes.directory().describe());
  }

  /** Answers when the index serves somewhere in the cluster. */
  private record CreateCall(StreamObserver<CreateIndexResponse> responses)
      implements LeaderDirectory.Created {
    @Override
    public void onEnd(long incarnation, boolean done, StatusException failure) {
      if (failure != null) {
        responses.onError(failure);
      } else {
        WriteCall.answer(
            responses,
            CreateIndexResponse.newBuilder().setCreated(done).setIncarnation(incarnation).build());
      }
    }
  }

  /** Answers when the cluster has dropped the index. */
  private record DropCall(StreamObserver<DropIndexResponse> responses)
      implements LeaderDirectory.Created {
    @Override
    public void onEnd(long incarnation, boolean done, StatusException failure) {
      if (failure != null) {
        responses.onError(failure);
      } else {
        WriteCall.answer(
            responses,
            DropIndexResponse.newBuilder().setExisted(done).setIncarnation(incarnation).build());
      }
    }
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
