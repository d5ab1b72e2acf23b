package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.AppendRequest;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.RequestNumber;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Sends writes twice, and loses answers to them, as it is told. */
final class UnreliableWrites implements ClientInterceptor {
  /** What happens to a write. */
  enum Fate {
    /** It is sent once, and answered. */
    NONE,
    /** It is sent twice, and the first one is answered. */
    SENT_TWICE,
    /** It is carried out, and the answer is lost. */
    ANSWER_LOST,
    /** It is carried out, and its deadline passes before the answer comes. */
    ANSWER_LATE,
    /** It is sent twice, and the answer is lost. */
    TWICE_AND_LOST,
    /** It stays on its way. */
    SILENT,
    /** The server has too much to do: it is not carried out. */
    OVERLOADED
  }

  /** Numbers of the writes that were sent; the default instance for those without. */
  final List<RequestNumber> numbers = new CopyOnWriteArrayList<>();

  /** Says what happens to the next write. */
  volatile Supplier<Fate> fates = () -> Fate.NONE;

  /** Is run when an answer was lost, before the client learns of it. */
  volatile Runnable onLost = () -> {};

  private static RequestNumber number(Object request) {
    if (request instanceof PutRequest put) {
      return put.getNumber();
    } else if (request instanceof DeleteRequest delete) {
      return delete.getNumber();
    } else if (request instanceof CompareAndSetRequest comparison) {
      return comparison.getNumber();
    } else if (request instanceof BatchPutRequest batch) {
      return batch.getNumber();
    }
    if (request instanceof AppendRequest append) {
      return append.getNumber();
    }
    if (request instanceof UpdateRequest update) {
      return update.getNumber();
    }
    if (request instanceof TransactRequest transaction) {
      return transaction.hasNumber() ? transaction.getNumber() : null;
    }
    return request instanceof DeleteRangeRequest range ? range.getNumber() : null;
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      private Fate fate = Fate.NONE;

      @Override
      public void start(Listener<R> listener, Metadata headers) {
        super.start(
            new SimpleForwardingClientCallListener<>(listener) {
              private R answer;

              @Override
              public void onMessage(R message) {
                answer = message;
              }

              @Override
              public void onClose(Status status, Metadata trailers) {
                if (fate == Fate.OVERLOADED) {
                  super.onClose(
                      Status.RESOURCE_EXHAUSTED.withDescription("overloaded: on purpose"),
                      trailers);
                  return;
                }
                final boolean lost = fate == Fate.ANSWER_LOST || fate == Fate.TWICE_AND_LOST;
                if (status.isOk() && fate == Fate.ANSWER_LATE) {
                  super.onClose(Status.DEADLINE_EXCEEDED.withDescription("late"), trailers);
                  return;
                }
                if (status.isOk() && lost) {
                  onLost.run();
                  super.onClose(Status.UNAVAILABLE.withDescription("lost"), trailers);
                  return;
                }
                if (answer != null) {
                  super.onMessage(answer);
                }
                super.onClose(status, trailers);
              }
            },
            headers);
      }

      @Override
      public void sendMessage(Q message) {
        final RequestNumber number = number(message);
        if (number != null) {
          numbers.add(number);
          fate = fates.get();
          if (fate == Fate.SENT_TWICE || fate == Fate.TWICE_AND_LOST) {
            ClientCalls.asyncUnaryCall(next.newCall(method, options), message, ignored());
          }
        }
        if (fate == Fate.OVERLOADED) {
          super.cancel("overloaded", null);
        } else if (fate != Fate.SILENT) {
          super.sendMessage(message);
        }
      }

      @Override
      public void halfClose() {
        if (fate != Fate.SILENT && fate != Fate.OVERLOADED) {
          super.halfClose();
        }
      }
    };
  }

  private static <R> StreamObserver<R> ignored() {
    return new StreamObserver<>() {
      @Override
      public void onNext(R answer) {}

      @Override
      public void onError(Throwable failure) {}

      @Override
      public void onCompleted() {}
    };
  }
}
