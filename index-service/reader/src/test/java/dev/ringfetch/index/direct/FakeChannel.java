package dev.ringfetch.index.direct;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;

/** A channel that keeps each call until the test answers it. */
final class FakeChannel extends Channel {
  final List<FakeCall> calls = new ArrayList<>();

  void answer(int number, Object message) {
    calls.get(number).listener.onMessage(message);
    end(number, Status.OK);
  }

  void refuse(int number) {
    end(number, Status.NOT_FOUND.withDescription("none"));
  }

  void end(int number, Status status) {
    calls.get(number).listener.onClose(status, new Metadata());
  }

  @Override
  @SuppressWarnings("unchecked") // of methods whose messages it does not look at
  public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    final FakeCall call = new FakeCall();
    calls.add(call);
    return (ClientCall<Q, R>) call;
  }

  @Override
  public String authority() {
    return "fake";
  }

  /** A call that notes its message. */
  static final class FakeCall extends ClientCall<Object, Object> {
    private Listener<Object> listener;
    Object message;
    boolean cancelled;

    @Override
    public void start(Listener<Object> listener, Metadata headers) {
      this.listener = listener;
    }

    @Override
    public void request(int count) {}

    @Override
    public void cancel(String message, Throwable cause) {
      cancelled = true;
    }

    @Override
    public void halfClose() {}

    @Override
    public void sendMessage(Object message) {
      this.message = message;
    }
  }
}
