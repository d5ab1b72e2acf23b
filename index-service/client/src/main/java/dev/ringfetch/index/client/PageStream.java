package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.TimeUnit;

/**
 * The call of a snapshot scan or of a search: one stream, on which the server sends a page per
 * request.
 */
final class PageStream {
  private final IndexCalls calls;
  private final ClientCall<?, ScanResponse> call;

  private PageStream(IndexCalls calls, ClientCall<?, ScanResponse> call) {
    this.calls = calls;
    this.call = call;
  }

  /**
   * A receiver of the pages and the end of a stream; called on threads of the channel, one call at
   * a time.
   */
  interface Receiver {
    /** Called with each page. */
    void onPage(PageStream stream, ScanResponse page);

    /** Called with the status at the end. */
    void onEnd(Status status);
  }

  /**
   * Starts the call and asks for the first page.
   *
   * @param lifetimeNs how long it may last, in nanoseconds.
   */
  static <Q> PageStream start(
      IndexCalls calls, Call<Q, ScanResponse> paged, long lifetimeNs, Receiver receiver) {
    final CallOptions callOptions =
        CallOptions.DEFAULT.withDeadlineAfter(lifetimeNs, TimeUnit.NANOSECONDS);
    final ClientCall<Q, ScanResponse> call = calls.newStream(paged, callOptions);
    final PageStream stream = new PageStream(calls, call);
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
      call.sendMessage(paged.request());
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
