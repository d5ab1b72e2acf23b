package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.TimeUnit;

/** The call of a snapshot scan: one stream, on which the server sends a page per request. */
final class SnapshotStream {
  private final IndexCalls calls;
  private final ClientCall<ScanRequest, ScanResponse> call;

  private SnapshotStream(IndexCalls calls, ClientCall<ScanRequest, ScanResponse> call) {
    this.calls = calls;
    this.call = call;
  }

  /**
   * A receiver of the pages and the end of a stream; called on threads of the channel, one call at
   * a time.
   */
  interface Receiver {
    /** Called with each page. */
    void onPage(SnapshotStream stream, ScanResponse page);

    /** Called with the status at the end. */
    void onEnd(Status status);
  }

  /**
   * Starts the call and asks for the first page.
   *
   * @param options what to read, and how long the call may last.
   */
  static SnapshotStream start(IndexCalls calls, Scan.Options options, Receiver receiver) {
    final ScanRequest request = options.request();
    final CallOptions callOptions =
        CallOptions.DEFAULT.withDeadlineAfter(options.lifetimeNs(), TimeUnit.NANOSECONDS);
    final ClientCall<ScanRequest, ScanResponse> call =
        calls.newStream(Call.reading(IndexGrpc.getScanMethod(), request), callOptions);
    final SnapshotStream stream = new SnapshotStream(calls, call);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(ScanResponse page) {
            receiver.onPage(stream, page);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            calls.leave(call);
            receiver.onEnd(status);
          }
        },
        new Metadata());
    if (calls.isClosed()) { // perhaps before the stream was one of those to cancel
      stream.cancel("the client was closed");
    } else {
      call.request(1);
      call.sendMessage(request);
      call.halfClose();
    }
    return stream;
  }

  ClientCall<?, ?> call() {
    return call;
  }

  /** Asks for another page. */
  void request() {
    call.request(1);
  }

  /** Ends the call. Idempotent. */
  void cancel(String reason) {
    calls.leave(call);
    call.cancel(reason, null);
  }
}
