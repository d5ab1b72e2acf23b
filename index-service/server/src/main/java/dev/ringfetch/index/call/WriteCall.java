package dev.ringfetch.index.call;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.partition.Write;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.function.BiFunction;

/**
 * The call of a write: answers it when the write's outcome is known, on the thread that owns the
 * partition then. Where the index is replicated and the write has no record, it asks first whether
 * this node leads.
 *
 * @param <T> type of the response.
 */
public final class WriteCall<T> implements Write.Listener {
  private final ServedIndex index;
  private final Outcomes outcomes;
  private final StreamObserver<T> responses;
  private final BiFunction<ServedIndex, Write, T> response;

  /**
   * Creates the call.
   *
   * @param response makes the response of a write that was carried out.
   */
  public WriteCall(
      ServedIndex index,
      Outcomes outcomes,
      StreamObserver<T> responses,
      BiFunction<ServedIndex, Write, T> response) {
    this.index = index;
    this.outcomes = outcomes;
    this.responses = responses;
    this.response = response;
  }

  @Override
  public void onAnswer(Write write) {
    if (write.outcome() != Write.DONE) {
      responses.onError(outcomes.status(index, write).asException());
      return;
    }
    final T answer = response.apply(index, write);
    if (!index.needsBarrier() || write.client() != null || hasRecord(write)) {
      answer(responses, answer);
    } else {
      index.leadership().barrier().confirm(leads -> answer(answer, leads));
    }
  }

  /** Whether members have confirmed the answer, as its record was committed. */
  private static boolean hasRecord(Write write) {
    return switch (write.kind()) {
      case DELETE -> write.existed();
      case COMPARE_AND_SET -> write.applied();
      default -> true;
    };
  }

  private void answer(T answer, boolean leads) {
    if (leads) {
      answer(responses, answer);
    } else {
      responses.onError(Outcomes.dropped(index).asException());
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
