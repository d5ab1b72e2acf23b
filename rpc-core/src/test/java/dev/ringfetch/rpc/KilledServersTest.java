package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import io.grpc.CallOptions;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers in processes of their own that are killed and added under load. Each call has an id,
 * which its server writes to a file before it answers: what is written outlives the process.
 */
@Tag("slow")
@Timeout(600)
final class KilledServersTest {
  private static final int SERVERS = 3;
  private static final int KILLS = 4;
  private static final int BLOCKING = 2;
  private static final int IN_FLIGHT = 32;
  private static final int CALLS_BETWEEN = 1_000;
  private static final int LONG_EVERY = 16;
  private static final int LONG = 100_000; // a message that needs many frames

  /** A server in a process of its own. */
  private record Child(Process process, int port) {
    static Child start(Path directory, Path record) throws IOException {
      final Process process =
          JavaProcess.start(
              List.of(
                  "-XX:+UseSerialGC",
                  "-cp",
                  System.getProperty("java.class.path"),
                  KilledServersTest.class.getName(),
                  directory.toString(),
                  record.toString()));
      @SuppressWarnings("resource") // as long as the process
      final BufferedReader out = process.inputReader();
      final String port = out.readLine();
      if (port == null) {
        process.destroyForcibly();
        throw new AssertionError("the server has not started");
      }
      return new Child(process, Integer.parseInt(port));
    }

    void kill() throws InterruptedException {
      process.destroyForcibly();
      assertTrue(process.waitFor(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
  }

  @TempDir private Path directory;

  private final Names names = new Names();
  private final List<Child> servers = new ArrayList<>();
  private final List<Path> records = new ArrayList<>();
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final ConcurrentMap<Long, Status> outcomes = new ConcurrentHashMap<>();

  @BeforeEach
  void register() {
    NameResolverRegistry.getDefaultRegistry().register(names);
  }

  @AfterEach
  void stop() throws Exception {
    NameResolverRegistry.getDefaultRegistry().deregister(names);
    for (final Child server : servers) {
      server.kill();
    }
  }

  /** The server: records the id of each call, then answers with it. */
  public static void main(String[] args) throws Exception {
    final FileChannel record =
        FileChannel.open(
            Path.of(args[1]), StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND);
    final RingServer server =
        RingServerBuilder.forPort(0)
            .shmDirectory(Path.of(args[0]))
            .spinTime(Duration.ZERO)
            .addService(
                RingFixture.service(
                    ServerCalls.asyncUnaryCall(
                        (byte[] request, StreamObserver<byte[]> answers) -> {
                          try {
                            record.write(ByteBuffer.wrap(request, 0, Long.BYTES));
                          } catch (IOException e) {
                            throw new UncheckedIOException(e);
                          }
                          answers.onNext(request);
                          answers.onCompleted();
                        })))
            .build()
            .start();
    System.out.println(server.getPort());
    server.awaitTermination();
  }

  private void add() throws IOException {
    final Path record = directory.resolve("executed-" + records.size());
    records.add(record);
    servers.add(Child.start(directory, record));
    names.resolve(servers.stream().map(Child::port).toList(), null);
  }

  private static CallOptions options() {
    return CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  private static byte[] request(long id) {
    final byte[] request = new byte[id % LONG_EVERY == 0 ? LONG : Long.BYTES];
    ByteBuffer.wrap(request).putLong(id);
    return request;
  }

  private void end(long id, Status status) {
    outcomes.put(id, status);
    ended.incrementAndGet();
  }

  private void block(RingChannel channel) {
    while (!stopped.get()) {
      final long id = ids.incrementAndGet();
      try {
        final byte[] answer =
            ClientCalls.blockingUnaryCall(channel, Bytes.METHOD, options(), request(id));
        end(id, ByteBuffer.wrap(answer).getLong() == id ? Status.OK : Status.DATA_LOSS);
      } catch (StatusRuntimeException e) {
        end(id, e.getStatus());
      }
    }
  }

  private void pipeline(RingChannel channel) {
    final Semaphore room = new Semaphore(IN_FLIGHT);
    while (!stopped.get()) {
      room.acquireUninterruptibly();
      final long id = ids.incrementAndGet();
      ClientCalls.asyncUnaryCall(
          channel.newCall(Bytes.METHOD, options()),
          request(id),
          new StreamObserver<byte[]>() {
            private long answered;

            @Override
            public void onNext(byte[] answer) {
              answered = ByteBuffer.wrap(answer).getLong();
            }

            @Override
            public void onError(Throwable t) {
              end(id, Status.fromThrowable(t));
              room.release();
            }

            @Override
            public void onCompleted() {
              end(id, answered == id ? Status.OK : Status.DATA_LOSS);
              room.release();
            }
          });
    }
    room.acquireUninterruptibly(IN_FLIGHT);
  }

  private void awaitCalls() {
    final long before = ended.get();
    RingFixture.await("calls", () -> ended.get() >= before + CALLS_BETWEEN);
  }

  private static void awaitRings(RingChannel channel) {
    RingFixture.await(
        "rings",
        () ->
            channel.transports().stream().filter(backend -> backend.transport().isRing()).count()
                == SERVERS);
  }

  @Test
  void noCallIsLostHangsOrRunsTwice() throws Exception {
    for (int i = 0; i < SERVERS; i++) {
      add();
    }
    final RingChannel channel =
        RingChannelBuilder.forTarget(Names.TARGET)
            .usePlaintext()
            .shmDirectory(directory)
            .spinTime(Duration.ZERO)
            .defaultLoadBalancingPolicy("round_robin")
            .build();
    try {
      final List<Thread> callers = new ArrayList<>();
      final CountDownLatch left = new CountDownLatch(BLOCKING + 1);
      for (int i = 0; i <= BLOCKING; i++) {
        final boolean blocking = i < BLOCKING;
        callers.add(
            new Thread(
                () -> {
                  try {
                    if (blocking) {
                      block(channel);
                    } else {
                      pipeline(channel);
                    }
                  } finally {
                    left.countDown();
                  }
                }));
      }
      callers.forEach(Thread::start);
      for (int i = 0; i < KILLS; i++) {
        awaitRings(channel);
        awaitCalls();
        servers.remove(0).kill(); // its name stays for a while: the policy finds out by itself
        awaitCalls();
        add();
      }
      awaitRings(channel);
      awaitCalls();
      stopped.set(true);
      assertTrue(left.await(2 * TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "a call hangs");
      assertExecutedOnce(channel);
    } finally {
      stopped.set(true);
      channel.shutdownNow();
      RingFixture.assertTerminates(channel);
    }
  }

  /** gRPC ends a call so, too, that meets a connection which is closed just then. */
  private static boolean isOfALostServer(Status status) {
    return status.getCode() == Status.Code.UNAVAILABLE
        || (status.getCode() == Status.Code.UNKNOWN
            && status.getCause() instanceof ClosedChannelException);
  }

  private void assertExecutedOnce(RingChannel channel) throws IOException {
    final Map<Long, Integer> executed = new HashMap<>();
    for (final Path record : records) {
      final ByteBuffer read = ByteBuffer.wrap(Files.readAllBytes(record));
      while (read.remaining() >= Long.BYTES) {
        executed.merge(read.getLong(), 1, Integer::sum);
      }
    }
    assertEquals(ids.get(), outcomes.size());
    assertFalse(executed.containsValue(2), "a call has run twice");
    outcomes.forEach(
        (id, status) -> {
          if (status.isOk()) {
            assertEquals(1, executed.get(id), "id=" + id);
          } else {
            assertTrue(isOfALostServer(status), () -> id + ": " + status);
          }
        });
    final long failed = outcomes.values().stream().filter(status -> !status.isOk()).count();
    final long mayFail = 2L * KILLS * (BLOCKING + IN_FLIGHT); // on the ring, then on gRPC
    assertTrue(failed <= mayFail, () -> failed + " failed");
    assertTrue(channel.count(Counter.CHANNEL_CALLS_RING) > outcomes.size() / 2);
  }
}
