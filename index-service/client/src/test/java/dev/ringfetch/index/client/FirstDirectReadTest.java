package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.index.v1.DirectAccessGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A direct reader that takes long to open: reads end by calls, with their whole deadline. */
@Timeout(60)
final class FirstDirectReadTest {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  @TempDir Path directory;

  private static HashIndex<String, Long> index(IndexClient client) {
    final HashIndex<String, Long> index =
        client.hash("tree", Codec.string(), Codec.int64()).deadline(Duration.ofSeconds(30));
    index.put("a", 1L); // connects
    return index.deadline(DEADLINE).access(Access.DIRECT);
  }

  @Test
  void aGrantThatDoesNotComeCostsTheReadNothing() throws Exception {
    try (TestServer server =
            TestServer.startWith(directory, new TreeIndex(), new TreeAdmin(), new SilentGrants());
        IndexClient client = server.connect()) {
      final HashIndex<String, Long> index = index(client);
      assertEquals(Optional.of(1L), index.get("a"));
      assertEquals(Map.of("a", 1L), index.getAll(List.of("a")));
    }
  }

  /** As on a busy host, where classes are loaded: nothing interrupts that. */
  @Test
  void openingMayTakeLongerThanTheDeadline() throws Exception {
    try (TestServer server = TestServer.startWith(directory, new TreeIndex(), new TreeAdmin())) {
      final ManagedChannel channel =
          NettyChannelBuilder.forTarget(server.target())
              .usePlaintext()
              .intercept(new SlowGrants())
              .build();
      try (IndexClient client = server.builder(channel).build()) {
        final HashIndex<String, Long> index = index(client);
        assertEquals(Optional.of(1L), index.get("a"));
      } finally {
        channel.shutdownNow();
      }
    }
  }

  /** Keeps the thread that asks for a grant until the deadline of its read is over. */
  private static final class SlowGrants implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      if (method.getServiceName().equals(DirectAccessGrpc.SERVICE_NAME)) {
        final long endNs = System.nanoTime() + DEADLINE.toNanos();
        while (System.nanoTime() - endNs < 0) {
          Thread.onSpinWait();
        }
      }
      return next.newCall(method, options);
    }
  }
}
