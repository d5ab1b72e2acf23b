package dev.ringfetch.index.service;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.node.IndexCatalog;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.StatusException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Requests of tests to create and drop the indexes of a server, answered when they are done. */
final class IndexRequests {
  private IndexRequests() {}

  /** Creates an index, or finds the one that there is. */
  static ServedIndex create(Indexes indexes, String name, IndexKind kind, Durability durability)
      throws StatusException {
    await(ended -> indexes.catalog().create(request(name, kind, durability), ended));
    return indexes.find(name);
  }

  /** As {@link #create}; returns whether there was none. */
  static boolean isCreated(Indexes indexes, String name, IndexKind kind, Durability durability)
      throws StatusException {
    return await(ended -> indexes.catalog().create(request(name, kind, durability), ended));
  }

  /** The request that creates an index. */
  static CreateIndexRequest request(String name, IndexKind kind, Durability durability) {
    return CreateIndexRequest.newBuilder()
        .setIndex(name)
        .setKind(kind)
        .setDurability(durability)
        .build();
  }

  /** Drops an index; returns whether there was one. */
  static boolean drop(Indexes indexes, String name) throws StatusException {
    return await(ended -> indexes.catalog().drop(name, 0, ended));
  }

  /** Makes a request; returns whether it has done anything, or throws its status. */
  static boolean await(Consumer<IndexCatalog.Created> request) throws StatusException {
    final CompletableFuture<Boolean> done = new CompletableFuture<>();
    final CompletableFuture<StatusException> failed = new CompletableFuture<>();
    request.accept(
        (incarnation, isDone, failure) -> {
          failed.complete(failure);
          done.complete(isDone);
        });
    final boolean result = done.orTimeout(60, TimeUnit.SECONDS).join();
    if (failed.join() != null) {
      throw failed.join();
    }
    return result;
  }
}
