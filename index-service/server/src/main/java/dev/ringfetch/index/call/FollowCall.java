package dev.ringfetch.index.call;

import dev.ringfetch.index.filter.EntryChain;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.FollowResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.StreamObserver;
import java.util.List;

/**
 * The call that follows a chain of entries: reads one after the other, on the thread of the call
 * while its reader can decide, else where the owner of a key answers. Used by one thread at a time.
 */
public final class FollowCall implements StreamObserver<Entry> {
  private final EntryChain chain;
  private final ReadCall.Source source;
  private final Outcomes outcomes;
  private final StreamObserver<FollowResponse> responses;

  /**
   * Creates the call.
   *
   * @param source finds the index
   * @throws StatusException INVALID_ARGUMENT
   */
  public FollowCall(
      FollowRequest request,
      ReadCall.Source source,
      Outcomes outcomes,
      StreamObserver<FollowResponse> responses)
      throws StatusException {
    this.source = source;
    this.outcomes = outcomes;
    this.responses = responses;
    RequestLimits.checkKey(request.getKey());
    try {
      chain = new EntryChain(request, ReadCall.MAX_ANSWER_BYTES);
    } catch (IllegalArgumentException e) {
      throw RequestLimits.invalid(e.getMessage());
    }
  }

  /** Reads, and answers; at the latest on another thread, later. */
  public void start() throws StatusException {
    final ServedIndex index = source.find();
    if (!chain.isOf(index == null ? 0 : index.incarnation())) {
      throw dropped();
    }
    if (index == null) {
      chain.take(null);
      end();
      return;
    }
    final ServedIndex.LocalReader reader = index.reader();
    while (true) {
      final ReadResult result = reader.read(chain.key());
      if (result != ReadResult.FOUND && result != ReadResult.ABSENT) {
        ask();
        return;
      }
      if (!chain.take(result == ReadResult.FOUND ? reader.entry(chain.key()) : null)) {
        end();
        return;
      }
    }
  }

  /** Lets the owner read the key. */
  private void ask() throws StatusException {
    new ReadCall<>(List.of(chain.key()), source, outcomes, this, this::read).start();
  }

  private Entry read(ReadCall<Entry> call) throws StatusException {
    if (call.index() == null || !chain.isOf(call.index().incarnation())) {
      throw dropped();
    }
    return call.entry(0) == null ? Entry.getDefaultInstance() : call.entry(0);
  }

  private static StatusException dropped() {
    return Status.ABORTED
        .withDescription("the index was dropped since the begin of the chain")
        .asException();
  }

  @Override
  public void onNext(Entry found) {
    if (!chain.take(found.getVersion() == 0 ? null : found)) {
      end();
      return;
    }
    try {
      start();
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  @Override
  public void onError(Throwable failure) {
    responses.onError(failure);
  }

  @Override
  public void onCompleted() {} // the entry was all

  private void end() {
    if (chain.isTooLong()) {
      responses.onError(ReadCall.answerTooLong(chain.hops() - 1, chain.hops()));
    } else {
      WriteCall.answer(responses, chain.response());
    }
  }
}
