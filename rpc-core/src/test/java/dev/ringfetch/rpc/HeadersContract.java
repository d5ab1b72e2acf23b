package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerMethodDefinition;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What the transport itself says of a call, beside what the application does. */
abstract class HeadersContract extends TransportContract {
  private static final MethodDescriptor<byte[], byte[]> CHAT =
      Bytes.method(Bytes.SERVICE + "/Chat", MethodType.BIDI_STREAMING);
  private static final MethodDescriptor<byte[], byte[]> LATE = Bytes.method("late.Service/Call");
  private static final List<MethodDescriptor<byte[], byte[]>> METHODS = List.of(Bytes.METHOD, CHAT);

  /** HTTP/2's own, which say what every call of gRPC says. */
  private static final Set<String> OF_HTTP2 = Set.of("content-type", "te");

  /** What a server says of its own codecs; over a ring only where it compresses. */
  private static final Set<String> OF_CODECS = Set.of("grpc-encoding", "grpc-accept-encoding");

  private final Served.Handler handler = Served.digesting();

  HeadersContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private void start() throws Exception {
    harness.handle(CHAT, handler);
    start(handler);
  }

  private Served served(
      MethodDescriptor<byte[], byte[]> method, CallOptions options, Metadata headers)
      throws InterruptedException {
    new Exchange(harness.channel(), method, options).send(headers, new byte[1]).response();
    return handler.take();
  }

  private static Set<String> keys(Metadata metadata, Set<String> without) {
    final Set<String> keys = new TreeSet<>(metadata.keys());
    keys.removeAll(without);
    return keys;
  }

  @Test
  void theServerSeesTheSameKeysOverEveryTransport() throws Exception {
    start();
    for (final MethodDescriptor<byte[], byte[]> method : METHODS) {
      for (int i = 0; i < 2; i++) { // of the session, not of its first call
        final Served plain = served(method, CallOptions.DEFAULT, new Metadata());
        assertEquals(Set.of("grpc-accept-encoding", "user-agent"), keys(plain.headers, OF_HTTP2));
        final Served full =
            served(
                method,
                CallOptions.DEFAULT
                    .withDeadlineAfter(1, TimeUnit.MINUTES)
                    .withCompression("gzip")
                    .withAuthority("other"),
                Bytes.metadata("own", "1"));
        assertEquals(
            Set.of("grpc-accept-encoding", "grpc-encoding", "grpc-timeout", "own", "user-agent"),
            keys(full.headers, OF_HTTP2));
        assertEquals("1", full.headers.get(Bytes.ascii("own")));
      }
    }
  }

  @Test
  void theClientSeesTheSameKeysOverEveryTransport() throws Exception {
    start();
    final Exchange call = exchange().send(new byte[1]);
    call.response();
    assertEquals(Set.of(), keys(keys(call.headers(), OF_HTTP2), OF_CODECS));
    assertEquals(Set.of(), keys(call.trailers(), OF_HTTP2));
  }

  private static Set<String> keys(Set<String> keys, Set<String> without) {
    final Set<String> left = new TreeSet<>(keys);
    left.removeAll(without);
    return left;
  }

  @Test
  void theUserAgentIsTheChannels() throws Exception {
    harness.channel(builder -> builder.userAgent("mine/1"));
    start();
    for (final MethodDescriptor<byte[], byte[]> method : METHODS) {
      for (final Metadata headers : List.of(new Metadata(), Bytes.metadata("own", "1"))) {
        final String agent =
            served(method, CallOptions.DEFAULT, headers).headers.get(Bytes.ascii("user-agent"));
        assertTrue(agent.startsWith("mine/1 grpc-java-"), agent);
      }
    }
  }

  @Test
  void whatIsTheTransportsToSayIsNotTheApplications() throws Exception {
    start();
    final Metadata headers = Bytes.metadata("user-agent", "another/1");
    headers.put(Bytes.ascii("grpc-accept-encoding"), "another");
    headers.put(Bytes.ascii("grpc-timeout"), "1u");
    headers.put(Bytes.ascii("own"), "1");
    final CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.MINUTES);
    for (final MethodDescriptor<byte[], byte[]> method : METHODS) {
      final Metadata copy = new Metadata();
      copy.merge(headers);
      final Metadata seen = served(method, options, copy).headers;
      for (final String key : List.of("user-agent", "grpc-accept-encoding", "grpc-timeout")) {
        int values = 0;
        for (final String value : seen.getAll(Bytes.ascii(key))) {
          assertTrue(!value.startsWith("another") && !value.equals("1u"), key + ": " + value);
          values++;
        }
        assertEquals(1, values, key);
      }
      assertEquals("1", seen.get(Bytes.ascii("own")));
    }
  }

  /** One call's headers are no other's, though the transport says the same in both. */
  @Test
  void anInterceptorMayRemoveWhatTheTransportSays() throws Exception {
    harness.server(
        builder ->
            builder.intercept(
                new ServerInterceptor() {
                  @Override
                  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
                      ServerCall<ReqT, RespT> call,
                      Metadata headers,
                      ServerCallHandler<ReqT, RespT> next) {
                    final boolean removes = headers.containsKey(Bytes.ascii("remove"));
                    if (removes) {
                      headers.discardAll(Bytes.ascii("user-agent"));
                      headers.put(Bytes.ascii("put"), "1");
                    }
                    return next.startCall(call, headers);
                  }
                }));
    start();
    for (int i = 0; i < 3; i++) {
      final Metadata removed =
          served(Bytes.METHOD, CallOptions.DEFAULT, Bytes.metadata("remove", "1")).headers;
      assertEquals(Set.of("grpc-accept-encoding", "put", "remove"), keys(removed, OF_HTTP2));
      final Metadata kept = served(Bytes.METHOD, CallOptions.DEFAULT, new Metadata()).headers;
      assertEquals(Set.of("grpc-accept-encoding", "user-agent"), keys(kept, OF_HTTP2));
    }
  }

  @Test
  void aCallMayHaveAnAuthorityOfItsOwn() throws Exception {
    start();
    for (final MethodDescriptor<byte[], byte[]> method : METHODS) {
      for (final Metadata headers : List.of(new Metadata(), Bytes.metadata("own", "1"))) {
        final CallOptions options = CallOptions.DEFAULT.withAuthority("other.example:1");
        final Served own = served(method, options, headers);
        assertEquals("other.example:1", own.call.getAuthority());
        assertEquals(Set.of(), pseudo(own.headers));
        final Served usual = served(method, CallOptions.DEFAULT, new Metadata());
        assertEquals(harness.channel().authority(), usual.call.getAuthority());
      }
    }
  }

  private static Set<String> pseudo(Metadata headers) {
    final Set<String> names = new TreeSet<>(headers.keys());
    names.removeIf(name -> !name.startsWith(":"));
    return names;
  }

  @Test
  void theFallbackRegistryIsAskedForTheCallsAuthority() throws Exception {
    final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    harness.server(
        builder ->
            builder.fallbackHandlerRegistry(
                new HandlerRegistry() {
                  @Override
                  public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
                    if (!name.equals(LATE.getFullMethodName())) {
                      return null;
                    }
                    asked.add(authority);
                    return ServerMethodDefinition.create(LATE, handler);
                  }
                }));
    start();
    served(LATE, CallOptions.DEFAULT.withAuthority("other"), new Metadata());
    assertEquals("other", asked.take());
    served(LATE, CallOptions.DEFAULT, new Metadata());
    assertEquals(harness.channel().authority(), asked.take());
  }

  @Test
  void credentialsAreAskedForTheCallsAuthority() throws Exception {
    final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    start();
    final CallCredentials credentials =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo request, Executor executor, MetadataApplier applier) {
            asked.add(request.getAuthority());
            applier.apply(new Metadata());
          }
        };
    final CallOptions options = CallOptions.DEFAULT.withCallCredentials(credentials);
    final Served own = served(Bytes.METHOD, options.withAuthority("other"), new Metadata());
    assertEquals("other", asked.take());
    assertEquals("other", own.call.getAuthority());
    served(Bytes.METHOD, options, new Metadata());
    assertEquals(harness.channel().authority(), asked.take());
  }
}
