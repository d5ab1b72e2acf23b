package dev.ringfetch.memory;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A server's call that notes its answers: messages, errors, and {@link #COMPLETED}. */
class FakeCall<T> extends ServerCallStreamObserver<T> {
  static final Object COMPLETED = "completed";

  final BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
  Runnable cancelHandler;
  boolean isCancelled;

  void cancel() {
    isCancelled = true;
    cancelHandler.run();
  }

  @Override
  public void onNext(T message) {
    answers.add(message);
  }

  @Override
  public void onError(Throwable t) {
    answers.add(t);
  }

  @Override
  public void onCompleted() {
    answers.add(COMPLETED);
  }

  @Override
  public boolean isCancelled() {
    return isCancelled;
  }

  @Override
  public void setOnCancelHandler(Runnable handler) {
    cancelHandler = handler;
  }

  @Override
  public void setCompression(String compression) {}

  @Override
  public boolean isReady() {
    return true;
  }

  @Override
  public void setOnReadyHandler(Runnable handler) {}

  @Override
  public void disableAutoInboundFlowControl() {}

  @Override
  public void request(int count) {}

  @Override
  public void setMessageCompression(boolean enable) {}
}
