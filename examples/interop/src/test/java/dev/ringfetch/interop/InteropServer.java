package dev.ringfetch.interop;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.testing.integration.TestServiceImpl;
import io.opencensus.trace.Span;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The suite's service in a process of its own. It ends with its input. What the suite looks up in a
 * server of the same process is told in the trailers of each call.
 */
final class InteropServer {
  /** Begins the line that says the port. */
  static final String PORT = "port ";

  /** What stood in the header {@code grpc-timeout}. */
  static final Metadata.Key<String> SEEN_TIMEOUT = key("seen-timeout");

  /** Milliseconds that were left in the context. */
  static final Metadata.Key<String> SEEN_DEADLINE_MS = key("seen-deadline-ms");

  /** The trace of which the handler is a part. */
  static final Metadata.Key<String> SEEN_TRACE = key("seen-trace");

  private static final Metadata.Key<String> TIMEOUT = key("grpc-timeout");

  private InteropServer() {}

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  /**
   * Prints the port; takes the directory of the shared-memory fabric, and what fabrics to serve.
   */
  public static void main(String[] args) throws IOException {
    final List<ServerInterceptor> interceptors = new ArrayList<>(TestServiceImpl.interceptors());
    interceptors.add(new Witness());
    final TestServiceImpl service = new TestServiceImpl(Executors.newScheduledThreadPool(2));
    System.out.println(
        PORT
            + ServedInterop.ring(Path.of(args[0]))
                .fabrics(Arrays.copyOfRange(args, 1, args.length))
                .addService(ServerInterceptors.intercept(service, interceptors))
                .build()
                .start()
                .getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  /** Adds to the trailers what is seen of a call. */
  private static final class Witness implements ServerInterceptor {
    @Override
    @SuppressWarnings("deprecation") // as the suite itself
    public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
        ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
      final Metadata seen = new Metadata();
      if (headers.containsKey(TIMEOUT)) {
        seen.put(SEEN_TIMEOUT, headers.get(TIMEOUT));
      }
      final Deadline deadline = Context.current().getDeadline();
      if (deadline != null) {
        seen.put(SEEN_DEADLINE_MS, Long.toString(deadline.timeRemaining(TimeUnit.MILLISECONDS)));
      }
      final Span span = io.opencensus.trace.unsafe.ContextUtils.getValue(Context.current());
      if (span != null) {
        seen.put(SEEN_TRACE, span.getContext().getTraceId().toLowerBase16());
      }
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
              trailers.merge(seen);
              super.close(status, trailers);
            }
          },
          headers);
    }
  }
}
