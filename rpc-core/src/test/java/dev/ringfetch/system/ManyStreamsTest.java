package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Ten thousand streams at once between two processes of 256 MiB each. All are begun before the
 * first has ended, each gets its tenth message, and memory of the ring is that of one session.
 */
@Tag("slow")
@Timeout(240)
class ManyStreamsTest {
  private static final int STREAMS = 10_000;
  private static final int MESSAGES = 10;
  private static final long LIMIT_S = 180;
  private static final long MAX_SHM_LENGTH = 64L * 1024 * 1024;
  private static final List<String> FLAGS = List.of("-Xmx256m", "-XX:TieredStopAtLevel=1");

  private static final String SERVICE = "many.Streams";
  private static final MethodDescriptor<GetRequest, GetResponse> CHAT =
      IndexGrpc.getGetMethod().toBuilder()
          .setFullMethodName(SERVICE + "/Chat")
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setSchemaDescriptor(null)
          .build();

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void eachGetsItsTenthMessage() throws Exception {
    try (SystemChild server =
        SystemChild.start(
            List.of(), FLAGS, ManyStreamsTest.class, List.of("server", directory.toString()))) {
      final String port = server.readLine();
      try (SystemChild client =
          SystemChild.start(
              List.of(),
              FLAGS,
              ManyStreamsTest.class,
              List.of("client", directory.toString(), port))) {
        assertEquals("begun " + STREAMS, client.readLine());
        final long length = mapped(client.pid());
        assertTrue(length > 0 && length <= MAX_SHM_LENGTH, "bytes of shm: " + length);
        assertEquals(
            "ended " + STREAMS + " messages " + STREAMS * MESSAGES + " failed 0 grpc 0",
            client.ask("go on"));
      }
    }
  }

  /** Bytes of shared memory that a process has mapped, of files that are unlinked, too. */
  private long mapped(long pid) throws IOException {
    long length = 0;
    for (final String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "maps"))) {
      if (line.contains(directory.toString())) {
        final String[] range = line.substring(0, line.indexOf(' ')).split("-", 2);
        length += Long.parseUnsignedLong(range[1], 16) - Long.parseUnsignedLong(range[0], 16);
      }
    }
    return length;
  }

  /** Plays a role (first argument) in a directory (second argument). */
  public static void main(String[] args) throws Exception {
    if ("server".equals(args[0])) {
      serve(Path.of(args[1]));
    } else {
      call(Path.of(args[1]), Integer.parseInt(args[2]));
    }
    System.exit(0);
  }

  private static void serve(Path directory) throws IOException {
    final RingServer server =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .addService(new HashIndex())
            .addService(
                ServerServiceDefinition.builder(SERVICE)
                    .addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(Echo::new))
                    .build())
            .build()
            .start();
    System.out.println(server.getPort());
    while (System.in.read() >= 0) {}
  }

  private static void call(Path directory, int port) throws Exception {
    final RingChannel channel = SystemChild.channelBuilder(directory, port).build();
    SystemChild.awaitRing(channel);
    final long overGrpc = channel.grpcCalls();
    final AtomicInteger messages = new AtomicInteger();
    final AtomicInteger failed = new AtomicInteger();
    final CountDownLatch ended = new CountDownLatch(STREAMS);
    final List<StreamObserver<GetRequest>> requests = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      requests.add(
          ClientCalls.asyncBidiStreamingCall(
              channel.newCall(CHAT, CallOptions.DEFAULT), new Counted(messages, failed, ended)));
    }
    send(requests, 0);
    Await.until("first messages", (int) LIMIT_S, () -> messages.get() == STREAMS);
    System.out.println("begun " + requests.size());
    SystemChild.input().readLine();
    for (int round = 1; round < MESSAGES; round++) {
      send(requests, round);
    }
    requests.forEach(StreamObserver::onCompleted);
    final boolean all = ended.await(LIMIT_S, TimeUnit.SECONDS);
    System.out.println(
        "ended "
            + (all ? STREAMS : STREAMS - ended.getCount())
            + " messages "
            + messages
            + " failed "
            + failed
            + " grpc "
            + (channel.grpcCalls() - overGrpc));
    SystemChild.input().readLine();
  }

  private static void send(List<StreamObserver<GetRequest>> requests, int round) {
    for (int i = 0; i < requests.size(); i++) {
      requests.get(i).onNext(HashIndex.request(i * MESSAGES + round));
    }
  }

  /** Answers each request with one message. */
  private record Echo(StreamObserver<GetResponse> responses) implements StreamObserver<GetRequest> {
    @Override
    public void onNext(GetRequest request) {
      responses.onNext(GetResponse.getDefaultInstance());
    }

    @Override
    public void onError(Throwable t) {
      // The client has gone.
    }

    @Override
    public void onCompleted() {
      responses.onCompleted();
    }
  }

  private record Counted(AtomicInteger messages, AtomicInteger failed, CountDownLatch ended)
      implements StreamObserver<GetResponse> {
    @Override
    public void onNext(GetResponse response) {
      messages.incrementAndGet();
    }

    @Override
    public void onError(Throwable t) {
      failed.incrementAndGet();
      ended.countDown();
    }

    @Override
    public void onCompleted() {
      ended.countDown();
    }
  }
}
