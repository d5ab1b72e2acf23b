package dev.ringfetch.index.call;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.partition.Write;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;

/**
 * The call of a write: answers it when the write's outcome is known, on the thread that owns the
 * partition then. Where the index is replicated and the write has no record, it asks first whether
 * this node leads.
 *
 * @param <T> type of the response.
 */
public final class WriteCall<T> implements Write.Listener {
  /** The translation of a write that was carried out to the response of its call. */
  @FunctionalInterface
  public interface Response<T> {
    /** Makes the response, or throws the status of a write that was refused for what it found. */
    T of(ServedIndex index, Write write) throws StatusException;
  }

  private final ServedIndex index;
  private final Outcomes outcomes;
  private final StreamObserver<T> responses;
  private final Response<T> response;

  /** Creates the call. */
  public WriteCall(
      ServedIndex index, Outcomes outcomes, StreamObserver<T> responses, Response<T> response) {
    this.index = index;
    this.outcomes = outcomes;
    this.responses = responses;
    this.response = response;
  }

  @Override
  public void onAnswer(Write write) {
    if (write.outcome() != Write.DONE) {
      responses.onError(outcomes.status(index, write).asException());
    } else if (!index.needsBarrier() || write.client() != null || !write.isUnchanged()) {
      answer(write, true);
    } else {
      index.leadership().barrier().confirm(leads -> answer(write, leads));
    }
  }

  private void answer(Write write, boolean leads) {
    try {
      if (!leads) {
        throw (write.isReading() ? Outcomes.deposed(index) : Outcomes.dropped(index)).asException();
      }
      answer(responses, response.of(index, write));
    } catch (StatusException e) {
      responses.onError(e);
    }
  }

  /** Answers a call, which its client may have cancelled meanwhile. */
  public static <T> void answer(StreamObserver<T> responses, T response) {
    try {
      responses.onNext(response);
      responses.onCompleted();
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() != Status.Code.CANCELLED) {
        throw e;
      }
    }
  }
}
