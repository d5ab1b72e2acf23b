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
   * Opens or renews a client.
   *
   * @param index that the client is for
   */
  void open(
      ServedIndex index, OpenClientRequest request, StreamObserver<OpenClientResponse> responses)
      throws StatusException {
    final ClientRegistry clients = index.leadership().clients();
    final int refused =
        clients.open(request.getClient(), client -> opened(index, client, responses));
    if (refused == ClientRegistry.LOG_FULL) {
      throw Outcomes.dropped(index).asException();
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
    if (index.isDropped()) {
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
            .setLeaseMs(
                (int) Math.min(Integer.MAX_VALUE, index.leadership().clients().term().toMillis()))
            .build());
  }

  /**
   * Closes a client.
   *
   * @param index that the client is for; null: there is none
   */
  void close(
      @Nullable ServedIndex index,
      CloseClientRequest request,
      StreamObserver<CloseClientResponse> responses)
      throws StatusException {
    WriteCall.answer(
        responses,
        CloseClientResponse.newBuilder()
            .setExisted(index != null && index.leadership().clients().close(request.getClient()))
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
    if (index == null) { // a client is of an index
      // It was not sent before, or to an index that this node would know of.
      if (request.getIncarnation() == 0 || !indexes.catalog().isOfCluster()) {
        throw Outcomes.gone(request.getClient(), number).asException();
      }
      throw Status.UNAVAILABLE
          .withDescription("this node does not know of the index; send again")
          .asException();
    }
    final ClientRegistry clients = index.leadership().clients();
    final NumberedClient client = clients.find(request.getClient());
    if (client == null) {
      throw Outcomes.gone(request.getClient(), number).asException();
    }
    client.complete(first);
    if (!client.keeps(number)) {
      throw Outcomes.gone(client.id(), number).asException();
    }
    checkIncarnation(request, index);
    return client;
  }

  private static StatusException invalid(String what, long first) {
    return Status.INVALID_ARGUMENT
        .withDescription("no number that a write can have: " + what + " first_incomplete=" + first)
        .asException();
  }

  /** Checks that an index is the one that a request was sent for before. */
  private static void checkIncarnation(RequestNumber request, ServedIndex index)
      throws StatusException {
    final long expected = request.getIncarnation();
    if (expected != 0 && index.incarnation() != expected) {
      throw Status.FAILED_PRECONDITION
          .withDescription(
              StatusTexts.OUTCOME_GONE
                  + ": the index was dropped, or lost with its server: number="
                  + request.getNumber())
          .asException();
    }
  }
}
