package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.NextKey;
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
  private final FollowRequest request;
  private final NextKey place;
  private final ReadCall.Source source;
  private final Outcomes outcomes;
  private final StreamObserver<FollowResponse> responses;
  private final FollowResponse.Builder response = FollowResponse.newBuilder();
  private ByteString key;
  private int hops;
  private long bytes;

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
    this.request = request;
    this.source = source;
    this.outcomes = outcomes;
    this.responses = responses;
    key = request.getKey();
    RequestLimits.checkKey(key);
    if (request.getHops() < 1 || request.getHops() > NextKey.MAX_HOPS) {
      throw RequestLimits.invalid(
          "hops="
              + Integer.toUnsignedString(request.getHops())
              + " is not from 1 to "
              + NextKey.MAX_HOPS);
    }
    try {
      place = new NextKey(request.getNext());
    } catch (IllegalArgumentException e) {
      throw RequestLimits.invalid(e.getMessage());
    }
  }

  /** Reads, and answers; at the latest on another thread, later. */
  public void start() throws StatusException {
    final ServedIndex index = source.find();
    if (index == null && hops > 0) {
      throw dropped();
    }
    if (index == null) {
      response.setMissing(key);
      end();
      return;
    }
    if (response.getIncarnation() != 0 && response.getIncarnation() != index.incarnation()) {
      throw dropped();
    }
    response.setIncarnation(index.incarnation());
    final ServedIndex.LocalReader reader = index.reader();
    while (true) {
      final ReadResult result = reader.read(key);
      if (result != ReadResult.FOUND && result != ReadResult.ABSENT) {
        ask();
        return;
      }
      if (!take(result == ReadResult.FOUND ? reader.entry(key) : null)) {
        end();
        return;
      }
    }
  }

  /** Lets the owner read the key. */
  private void ask() throws StatusException {
    new ReadCall<>(List.of(key), source, outcomes, this, this::read).start();
  }

  private Entry read(ReadCall<Entry> call) throws StatusException {
    if (call.index() == null || call.index().incarnation() != response.getIncarnation()) {
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
    if (!take(found.getVersion() == 0 ? null : found)) {
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

  /** Takes the entry of the key, null if it has none; returns whether the chain goes on. */
  private boolean take(Entry entry) {
    if (entry == null) {
      response.setMissing(key);
      return false;
    }
    if (request.getLastOnly()) {
      response.clearEntries();
      bytes = 0;
    }
    response.addEntries(entry);
    bytes += entry.getSerializedSize();
    key = place.behind(key, entry.getValue());
    return ++hops < request.getHops() && !key.isEmpty() && bytes <= ReadCall.MAX_ANSWER_BYTES;
  }

  private void end() {
    if (bytes > ReadCall.MAX_ANSWER_BYTES) {
      responses.onError(ReadCall.answerTooLong(hops - 1, hops));
    } else {
      WriteCall.answer(responses, response.build());
    }
  }
}
