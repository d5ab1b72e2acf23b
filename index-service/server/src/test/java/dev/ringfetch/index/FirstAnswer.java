package dev.ringfetch.index;

import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;

/** The first answer of a call, or the failure that came instead. */
public final class FirstAnswer<T> extends CompletableFuture<T> implements StreamObserver<T> {
  @Override
  public void onNext(T answer) {
    complete(answer);
  }

  @Override
  public void onError(Throwable failure) {
    completeExceptionally(failure);
  }

  @Override
  public void onCompleted() {}
}
