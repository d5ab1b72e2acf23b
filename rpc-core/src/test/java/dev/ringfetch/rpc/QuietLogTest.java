package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.ShmTempDirFactory;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * What is logged of processes that are well: nothing at INFO, and no stack trace at any level, as
 * docs/logging.md says.
 */
@Isolated
@Timeout(120)
final class QuietLogTest {
  private static final Logger OURS = Logger.getLogger("dev.ringfetch");
  private static final int CALLERS = 4;
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long GAP_NS = TimeUnit.MILLISECONDS.toNanos(300); // without a server

  @TempDir(factory = ShmTempDirFactory.class)
  private Path directory;

  private final List<LogRecord> lines = new ArrayList<>(); // guarded by itself
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord line) {
          synchronized (lines) {
            lines.add(line);
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  @BeforeEach
  void listen() {
    OURS.setLevel(Level.ALL);
    OURS.setUseParentHandlers(false);
    OURS.addHandler(handler);
  }

  @AfterEach
  void stopListening() {
    OURS.removeHandler(handler);
    OURS.setUseParentHandlers(true);
    OURS.setLevel(null);
  }

  private RingServer serve(int port) throws Exception {
    return RingServerBuilder.forPort(port)
        .shmDirectory(directory)
        .spinTime(Duration.ZERO)
        .addService(RingFixture.service(Bytes.digesting()))
        .build()
        .start();
  }

  private RingChannel channel(int port) {
    return RingChannelBuilder.forTarget("localhost:" + port)
        .usePlaintext()
        .shmDirectory(directory)
        .spinTime(Duration.ZERO)
        .build();
  }

  private static void call(RingChannel channel) {
    final byte[] unused =
        ClientCalls.blockingUnaryCall(
            channel,
            Bytes.METHOD,
            CallOptions.DEFAULT.withDeadlineAfter(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS),
            new byte[1]);
  }

  private static void callUntilRing(RingChannel channel) {
    RingFixture.await(
        "a ring opens",
        () -> {
          try {
            call(channel);
          } catch (StatusRuntimeException e) {
            assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode()); // none listens
            channel.resetConnectBackoff();
          }
          return channel.transport().isRing();
        });
  }

  private static void end(RingServer server) throws InterruptedException {
    assertTrue(server.shutdown().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  private static void end(RingChannel channel) throws InterruptedException {
    assertTrue(channel.shutdown().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  private void assertQuiet() {
    final List<String> loud = new ArrayList<>();
    synchronized (lines) {
      for (final LogRecord line : lines) {
        if (line.getLevel().intValue() >= Level.INFO.intValue() || line.getThrown() != null) {
          loud.add(
              line.getLevel()
                  + " "
                  + line.getLoggerName()
                  + " "
                  + line.getMessage()
                  + " "
                  + (line.getParameters() == null ? "" : List.of(line.getParameters()))
                  + " "
                  + line.getThrown());
        }
      }
    }
    assertEquals(List.of(), loud);
  }

  @Test
  void aServerThatDrainsAndItsSuccessor() throws Exception {
    final RingServer first = serve(0);
    final int port = first.getPort();
    final RingChannel used = channel(port);
    callUntilRing(used);
    call(used);
    end(first);
    RingFixture.await("the ring has ended", () -> !used.transport().isRing());
    final RingServer second = serve(port);
    callUntilRing(used);
    used.enterIdle();
    callUntilRing(used);
    end(used);
    end(second);
    assertQuiet();
  }

  /** Calls see the server go, gRPC's connection with it, and the next server come. */
  @Test
  void callsWhileAServerIsReplaced() throws Exception {
    final RingServer first = serve(0);
    final int port = first.getPort();
    final RingChannel channel = channel(port);
    callUntilRing(channel);
    call(channel); // on the ring: one that ends before its first answer is news
    final AtomicBoolean stopped = new AtomicBoolean();
    final List<Thread> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      callers.add(new Thread(() -> callUntil(stopped, channel)));
    }
    callers.forEach(Thread::start);
    end(first);
    LockSupport.parkNanos(GAP_NS);
    final RingServer second = serve(port);
    RingFixture.await("a ring to the next server", () -> channel.transport().isRing());
    stopped.set(true);
    for (final Thread caller : callers) {
      caller.join();
    }
    end(channel);
    end(second);
    assertQuiet();
  }

  private static void callUntil(AtomicBoolean stopped, RingChannel channel) {
    while (!stopped.get()) {
      try {
        call(channel);
      } catch (StatusRuntimeException e) { // there is no server
        channel.resetConnectBackoff();
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  /** More than a backlog has room for look at one another's directories. */
  @Test
  void processesThatLookAtOneAnother() throws Exception {
    final List<RingServer> servers = new ArrayList<>();
    final List<RingChannel> channels = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      final RingServer server = serve(0);
      servers.add(server);
      final RingChannel channel = channel(server.getPort());
      channels.add(channel);
      channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    }
    for (final RingChannel channel : channels) {
      end(channel);
    }
    for (final RingServer server : servers) {
      end(server);
    }
    assertQuiet();
  }
}
