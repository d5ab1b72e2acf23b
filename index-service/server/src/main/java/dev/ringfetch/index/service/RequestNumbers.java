package dev.ringfetch.index.service;

import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.call.WriteCall;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.outcome.ClientRegistry;
import dev.ringfetch.index.outcome.NumberedClient;
import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.CloseClientResponse;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of requests: gives clients theirs, and checks those of writes before anything else is
 * done.
 *
 * <p>Safe for use by many threads.
 */
final class RequestNumbers {
  private final Indexes indexes;

  RequestNumbers(Indexes indexes) {
    this.indexes = indexes;
  }

  /**
   * The clients whose writes may be for an index.
   *
   * @param index null where the server is no node of a cluster, or has no such index
   */
  private ClientRegistry clients(@Nullable ServedIndex index) {
    return index == null || index.leadership() == null
        ? indexes.clients()
        : index.leadership().clients();
  }

  /**
   * Opens or renews a client.
   *
   * @param index that the client is for, where the server is a node of a cluster
   */
  void open(
      ServedIndex index, OpenClientRequest request, StreamObserver<OpenClientResponse> responses)
      throws StatusException {
    indexes.checkStarted();
    final ClientRegistry clients = clients(index);
    final int refused =
        clients.open(request.getClient(), client -> opened(index, client, responses));
    if (refused == ClientRegistry.LOG_FULL && index != null && index.leadership() != null) {
      throw Outcomes.dropped(index).asException();
    }
    if (refused == ClientRegistry.LOG_FULL) {
      throw indexes.memory().statuses().journalFull().asException();
    }
    if (refused == ClientRegistry.TOO_MANY) {
      throw Status.RESOURCE_EXHAUSTED
          .withDescription(
              "too many clients have numbers: limit="
                  + clients.limit()
                  + "; one that does nothing loses its number after "
                  + clients.term().toMillis()
                  + " ms")
          .asException();
    }
  }

  private void opened(
      ServedIndex index, NumberedClient client, StreamObserver<OpenClientResponse> responses) {
    if (index != null && index.isDropped()) {
      responses.onError(Outcomes.dropped(index).asException());
      return;
    }
    if (indexes.memory().statuses().isJournalFailed()) {
      responses.onError(indexes.memory().statuses().stopped().asException());
      return;
    }
    WriteCall.answer(
        responses,
        OpenClientResponse.newBuilder()
            .setClient(client.id())
            .addAllNodes(indexes.catalog().addresses())
            .setLeaseMs((int) Math.min(Integer.MAX_VALUE, clients(index).term().toMillis()))
            .build());
  }

  /** Closes a client; the index is as for {@link #open}. */
  void close(
      ServedIndex index, CloseClientRequest request, StreamObserver<CloseClientResponse> responses)
      throws StatusException {
    indexes.checkStarted();
    WriteCall.answer(
        responses,
        CloseClientResponse.newBuilder()
            .setExisted(clients(index).close(request.getClient()))
            .build());
  }

  /**
   * The client of a request whose writes have these numbers, after their limits were checked. The
   * index was looked up before: so the journal is read, and its clients are known.
   *
   * @param index that the request is for; null if there is none
   * @param writes how many, beginning with the request's number
   * @throws StatusException FAILED_PRECONDITION if outcomes of the client, or of such a number, are
   *     not kept; UNAVAILABLE where a node does not know of the index; INVALID_ARGUMENT beyond a
   *     limit
   */
  NumberedClient client(@Nullable ServedIndex index, RequestNumber request, int writes)
      throws StatusException {
    final long number = request.getNumber();
    final long first = Math.max(1, request.getFirstIncomplete());
    final long last = number + Math.max(1, writes) - 1;
    if (number < 1 || number >= NumberedClient.NUMBER_LIMIT || last < first) {
      throw invalid("number=" + number + " limit=" + NumberedClient.NUMBER_LIMIT, first);
    }
    if (last - first >= NumberedClient.WINDOW) {
      throw invalid("number=" + last + " limit=" + NumberedClient.WINDOW + " more", first);
    }
    if (index == null && indexes.catalog().isOfCluster()) { // a client is of an index
      if (request.getIncarnation() == 0) { // it was not sent before
        throw Outcomes.gone(request.getClient(), number).asException();
      }
      throw Status.UNAVAILABLE
          .withDescription("this node does not know of the index; send again")
          .asException();
    }
    final ClientRegistry clients = clients(index);
    final NumberedClient client = clients.find(request.getClient());
    if (client == null) {
      throw Outcomes.gone(request.getClient(), number).asException();
    }
    client.complete(first);
    if (!client.keeps(number)) {
      throw Outcomes.gone(client.id(), number).asException();
    }
    return client;
  }

  private static StatusException invalid(String what, long first) {
    return Status.INVALID_ARGUMENT
        .withDescription("no number that a write can have: " + what + " first_incomplete=" + first)
        .asException();
  }

  /**
   * The index that a write is for which creates none; null: the write is answered without one, also
   * when it comes again and there is one.
   *
   * @param index null if there is none
   * @throws StatusException FAILED_PRECONDITION if the write was sent before, for another one
   */
  @Nullable ServedIndex index(
      RequestNumber request, NumberedClient client, String name, @Nullable ServedIndex index)
      throws StatusException {
    checkIncarnation(request, index);
    final long number = request.getNumber();
    if (index != null) {
      return client.wasWithoutIndex(number) ? null : index;
    }
    client.withoutIndex(number); // before another look: a creation precedes that, or finds this
    final ServedIndex created = indexes.find(name);
    if (created != null) {
      client.withIndex(number);
    }
    return created;
  }

  /** Checks that an index, null if there is none, is the one that a request was sent for before. */
  void checkIncarnation(RequestNumber request, ServedIndex index) throws StatusException {
    final long expected = request.getIncarnation();
    if (expected != 0 && (index == null || index.incarnation() != expected)) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              StatusTexts.OUTCOME_GONE
                  + ": the index was dropped, or lost with its server: number="
                  + request.getNumber())
          .asException();
    }
  }
}
