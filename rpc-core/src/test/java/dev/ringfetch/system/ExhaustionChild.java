package dev.ringfetch.system;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Server and client of {@link ExhaustionTest}, by hand, so that nothing is asked for unasked. */
final class ExhaustionChild {
  /** Bytes of a message of a stream that nobody reads, about. */
  static final int LENGTH = 8 * 1024;

  private static final int RING_LENGTH = 256 * 1024;

  private static final int LIMIT_S = 60;
  private static final int AT_ONCE = 100;
  private static final int SESSIONS_PER_HOST = 200; // of which one has so many without waiting

  private static final String SERVICE = "exhaustion.Streams";

  /** Answers each message. */
  private static final MethodDescriptor<GetRequest, GetResponse> CHAT =
      method("Chat", MethodType.BIDI_STREAMING);

  /** Sends as long as it may. */
  private static final MethodDescriptor<GetRequest, GetResponse> POUR =
      method("Pour", MethodType.SERVER_STREAMING);

  /** Reads nothing. */
  private static final MethodDescriptor<GetRequest, GetResponse> IGNORE =
      method("Ignore", MethodType.CLIENT_STREAMING);

  private static final Metadata.Key<String> LONG =
      Metadata.Key.of("long", Metadata.ASCII_STRING_MARSHALLER);
  private static final GetRequest REQUEST =
      GetRequest.newBuilder().setKey(ByteString.copyFrom(new byte[LENGTH])).build();
  private static final GetResponse RESPONSE =
      GetResponse.newBuilder()
          .setEntry(Entry.newBuilder().setValue(ByteString.copyFrom(new byte[LENGTH])))
          .build();

  /** Bytes of messages that this process has sent where nobody reads. */
  private static final AtomicLong SENT = new AtomicLong();

  private ExhaustionChild() {}

  private static MethodDescriptor<GetRequest, GetResponse> method(String name, MethodType type) {
    return IndexGrpc.getGetMethod().toBuilder()
        .setFullMethodName(SERVICE + "/" + name)
        .setType(type)
        .setSchemaDescriptor(null)
        .build();
  }

  /** Plays a role (first argument) in a directory (second argument). */
  public static void main(String[] args) throws Exception {
    final Path directory = Path.of(args[1]);
    if ("server".equals(args[0])) {
      serve(directory);
    } else {
      new Client(directory, Integer.parseInt(args[2])).run();
    }
    System.exit(0);
  }

  private static void serve(Path directory) throws IOException {
    final AtomicInteger calls = new AtomicInteger();
    final RingServer server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .addService(
                ServerServiceDefinition.builder(SERVICE)
                    .addMethod(CHAT, (call, headers) -> new Served(call, calls))
                    .addMethod(POUR, (call, headers) -> new Served(call, calls))
                    .addMethod(IGNORE, (call, headers) -> new Served(call, calls))
                    .build())
            .addService(new HashIndex())
            .build()
            .start();
    System.out.println(server.getPort());
    final BufferedReader input = SystemChild.input();
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "calls" -> System.out.println(calls.get());
        case "sessions" -> System.out.println(server.sessionCount());
        case "sent" -> System.out.println(SENT.get());
        case "footprint" -> System.out.println(Footprint.take(directory).line());
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
  }

  /** A call at the server. */
  private static final class Served extends ServerCall.Listener<GetRequest> {
    private final ServerCall<GetRequest, GetResponse> call;
    private final AtomicInteger calls;

    Served(ServerCall<GetRequest, GetResponse> call, AtomicInteger calls) {
      this.call = call;
      this.calls = calls;
      calls.incrementAndGet();
      call.sendHeaders(new Metadata());
      if (!isOf(IGNORE)) {
        call.request(1);
      }
    }

    private boolean isOf(MethodDescriptor<?, ?> method) {
      return method.getFullMethodName().equals(call.getMethodDescriptor().getFullMethodName());
    }

    @Override
    public void onMessage(GetRequest request) {
      if (isOf(CHAT)) {
        call.sendMessage(RESPONSE);
        call.request(1);
      }
    }

    @Override
    public void onHalfClose() {
      onReady();
    }

    @Override
    public void onReady() {
      while (isOf(POUR) && call.isReady()) {
        SENT.addAndGet(RESPONSE.getSerializedSize());
        call.sendMessage(RESPONSE);
      }
    }

    @Override
    public void onCancel() {
      calls.decrementAndGet();
    }

    @Override
    public void onComplete() {
      calls.decrementAndGet();
    }
  }

  /** A stream of the client, which asks for so many messages, and is told of its end. */
  private static final class Streaming extends ClientCall.Listener<GetResponse> {
    private final ClientCall<GetRequest, GetResponse> call;
    private final boolean pouring;
    private final Semaphore answered = new Semaphore(0);
    private final Semaphore closed = new Semaphore(0);
    private volatile Status status;

    Streaming(
        RingChannel channel, MethodDescriptor<GetRequest, GetResponse> method, int requested) {
      call = channel.newCall(method, CallOptions.DEFAULT);
      pouring = method == IGNORE;
      call.start(this, new Metadata());
      if (requested > 0) {
        call.request(requested);
      }
    }

    @Override
    public void onReady() {
      while (pouring && call.isReady()) {
        SENT.addAndGet(REQUEST.getSerializedSize());
        call.sendMessage(REQUEST);
      }
    }

    @Override
    public void onMessage(GetResponse message) {
      answered.release();
    }

    @Override
    public void onClose(Status end, Metadata trailers) {
      status = end;
      closed.release();
    }

    void cancel() throws InterruptedException {
      call.cancel("in midstream", null);
      await(closed);
      if (status.getCode() != Status.Code.CANCELLED) {
        throw new IllegalStateException(status.toString());
      }
    }

    static void await(Semaphore semaphore) throws InterruptedException {
      if (!semaphore.tryAcquire(LIMIT_S, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nothing comes");
      }
    }
  }

  /** The client's side. */
  private static final class Client {
    private final Path directory;
    private final int port;
    private final RingChannel channel;
    private final List<Streaming> held = new ArrayList<>();

    Client(Path directory, int port) throws Exception {
      this.directory = directory;
      this.port = port;
      this.channel = open(0);
      SystemChild.awaitRing(channel);
      System.out.println("connected");
    }

    /** A channel from one of this host's addresses. */
    private RingChannel open(int host) {
      return RingChannelBuilder.over(
              NettyChannelBuilder.forAddress("127.0.0.1", port)
                  .localSocketPicker(
                      new NettyChannelBuilder.LocalSocketPicker() {
                        @Override
                        public InetSocketAddress createSocketAddress(
                            SocketAddress remote, Attributes attributes) {
                          return new InetSocketAddress("127.0.0." + (host + 1), 0);
                        }
                      }),
              "127.0.0.1:" + port)
          .usePlaintext()
          .shmDirectory(directory)
          .ringLengths(RING_LENGTH, RING_LENGTH) // which grow to no other, while they are counted
          .requireFabric()
          .build();
    }

    void run() throws Exception {
      final BufferedReader input = SystemChild.input();
      String line;
      while ((line = input.readLine()) != null) {
        final String[] words = line.split(" ", -1);
        final int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
          case "cancel" -> cancel(count);
          case "sessions" -> openAndDrop(count);
          case "unread" -> holdAndLetGo(POUR, count);
          case "unheard" -> holdAndLetGo(IGNORE, count);
          case "hold-unread" -> hold(POUR, count);
          case "hold-unheard" -> hold(IGNORE, count);
          case "let-go" -> System.out.println("done " + letGo());
          case "metadata-limit" -> System.out.println(longestMetadata());
          case "metadata" -> metadata(count);
          case "sent" -> System.out.println(SENT.get());
          case "footprint" -> System.out.println(Footprint.take(directory).line());
          default -> throw new IllegalArgumentException("line=" + line);
        }
      }
    }

    private void cancel(int count) throws InterruptedException {
      for (int i = 0; i < count; i += AT_ONCE) {
        final List<Streaming> streams = new ArrayList<>();
        for (int j = i; j < Math.min(count, i + AT_ONCE); j++) {
          final Streaming stream = new Streaming(channel, CHAT, 1);
          stream.call.sendMessage(REQUEST);
          stream.call.sendMessage(REQUEST); // whose answer nobody asks for
          streams.add(stream);
        }
        for (final Streaming stream : streams) {
          Streaming.await(stream.answered);
          stream.cancel();
        }
      }
      System.out.println("done " + count);
    }

    private void openAndDrop(int count) throws Exception {
      for (int i = 0; i < count; i++) {
        final RingChannel dropped = open(1 + i / SESSIONS_PER_HOST);
        final Streaming stream = new Streaming(dropped, CHAT, 1);
        stream.call.sendMessage(REQUEST);
        Streaming.await(stream.answered);
        dropped.shutdownNow();
        Streaming.await(stream.closed);
        if (!dropped.awaitTermination(LIMIT_S, TimeUnit.SECONDS)) {
          throw new IllegalStateException("the channel does not terminate");
        }
      }
      System.out.println("done " + count);
    }

    private void hold(MethodDescriptor<GetRequest, GetResponse> method, int count) {
      begin(method, count);
      System.out.println("holding " + count);
    }

    private void begin(MethodDescriptor<GetRequest, GetResponse> method, int count) {
      for (int i = 0; i < count; i++) {
        final Streaming stream = new Streaming(channel, method, 0);
        if (method == POUR) {
          stream.call.sendMessage(REQUEST);
          stream.call.halfClose();
        }
        held.add(stream);
      }
    }

    private int letGo() throws InterruptedException {
      final int count = held.size();
      for (final Streaming stream : held) {
        stream.cancel();
      }
      held.clear();
      return count;
    }

    private void holdAndLetGo(MethodDescriptor<GetRequest, GetResponse> method, int count)
        throws InterruptedException {
      begin(method, count);
      System.out.println("done " + letGo());
    }

    private Status.Code callWith(int length) throws InterruptedException {
      final Metadata headers = new Metadata();
      headers.put(LONG, "x".repeat(length));
      try {
        ClientCalls.blockingUnaryCall(
            ClientInterceptors.intercept(
                channel, MetadataUtils.newAttachHeadersInterceptor(headers)),
            IndexGrpc.getGetMethod(),
            CallOptions.DEFAULT.withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS),
            HashIndex.request(1));
        return Status.Code.OK;
      } catch (StatusRuntimeException e) {
        return e.getStatus().getCode();
      }
    }

    private int longestMetadata() throws InterruptedException {
      int arrives = 1;
      int fails = 4 * 8192;
      while (fails - arrives > 1) {
        final int length = (arrives + fails) / 2;
        if (callWith(length) == Status.Code.OK) {
          arrives = length;
        } else {
          fails = length;
        }
      }
      return arrives;
    }

    private void metadata(int count) throws InterruptedException {
      final int limit = longestMetadata();
      for (int i = 0; i < count; i++) {
        final Status.Code at = callWith(limit);
        final Status.Code over = callWith(limit + 1 + i * 64);
        if (at != Status.Code.OK || over == Status.Code.OK) {
          throw new IllegalStateException(at + " " + over);
        }
      }
      System.out.println("done " + count);
    }
  }
}
