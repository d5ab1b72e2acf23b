package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The administration of a {@link TreeIndex}, which is always there. */
class TreeAdmin extends IndexAdminGrpc.IndexAdminImplBase {
  final List<CreateIndexRequest> creations = new CopyOnWriteArrayList<>();

  @Override
  public void createIndex(
      CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
    creations.add(request);
    TreeIndex.answer(
        responses, CreateIndexResponse.newBuilder().setIncarnation(TreeIndex.INCARNATION).build());
  }
}
