package dev.ringfetch.system;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A handler uses up the heap or the stack of its server: its call ends UNKNOWN, and calls and
 * sessions beside it go on.
 */
@Tag("slow")
class HeapTest {
  private static final int LIMIT_S = 30;
  private static final int ROUNDS = Rounds.of(2, 2);
  private static final long KEEP_NS = 500_000_000;
  private static final long CALL_INTERVAL_NS = 1_000_000;

  // What a handler takes: pieces of the heap of so many bytes, or one of these.
  private static final int STACK = 0;
  private static final int KEEP = 1;
  private static final String HOARD = "hoard";

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @ParameterizedTest
  @CsvSource({"1048576, false", "0, true"})
  void aHandlerThatTakesItAllEndsItsOwnCallOnly(int chunk, boolean direct) throws Exception {
    try (SystemChild server = startServer(direct)) {
      final int port = Integer.parseInt(server.readLine());
      final RingChannel greedy = open(port);
      final RingChannel beside = open(port);
      try (Load load = new Load(beside)) {
        SystemChild.awaitRing(greedy);
        SystemChild.awaitRing(beside);
        load.start(1);
        for (int round = 0; round < ROUNDS; round++) {
          assertEquals(Status.Code.UNKNOWN, hoard(greedy, chunk).getCode());
        }
        final long answered = load.answered();
        Await.until("calls", LIMIT_S, () -> load.answered() > answered + 1_000);
        load.stop(LIMIT_S);
        assertEquals(0, load.unavailable());
        assertEquals(List.of(), load.failures());
        final GetRequest request = HashIndex.request(3);
        assertTrue(HashIndex.isAnswer(request, IndexGrpc.newBlockingStub(greedy).get(request)));
        assertEquals("sessions=2", server.ask("sessions"));
        assertEquals(0, greedy.grpcCalls());
      } finally {
        greedy.shutdownNow();
        beside.shutdownNow();
      }
    }
  }

  /** Not in small pieces: they leave nothing to anybody, and a neighbour may lose its session. */
  @ParameterizedTest
  @CsvSource({"1048576, true", "0, false"})
  void howeverItTakesIt(int chunk, boolean direct) throws Exception {
    aHandlerThatTakesItAllEndsItsOwnCallOnly(chunk, direct);
  }

  /**
   * Nothing is left for anybody for a while. What then becomes of gRPC's threads is gRPC's affair,
   * so that new sessions are not asked for; but what is under way on a ring ends, and the poller
   * lives. As over gRPC, an answer that found no memory to be written to ends its call CANCELLED.
   */
  @ParameterizedTest
  @CsvSource({"false", "true"})
  void aHandlerThatKeepsItAllLeavesNoCallWithoutAnEnd(boolean direct) throws Exception {
    try (SystemChild server = startServer(direct)) {
      final int port = Integer.parseInt(server.readLine());
      final RingChannel greedy = open(port);
      final RingChannel beside = open(port);
      try {
        SystemChild.awaitRing(greedy);
        SystemChild.awaitRing(beside);
        final Map<Status.Code, Integer> ends = new EnumMap<>(Status.Code.class);
        final List<ListenableFuture<GetResponse>> calls = new ArrayList<>();
        for (int round = 0; round < ROUNDS && beside.transport().isRing(); round++) {
          final ListenableFuture<GetResponse> hoarding =
              IndexGrpc.newFutureStub(greedy).get(hoarding(KEEP));
          final long startNs = System.nanoTime();
          while (!hoarding.isDone() && Await.millisSince(startNs) < LIMIT_S * 1_000) {
            if (beside.transport().isRing()) {
              calls.add(IndexGrpc.newFutureStub(beside).get(HashIndex.request(calls.size())));
            }
            LockSupport.parkNanos(CALL_INTERVAL_NS);
          }
          calls.add(hoarding);
          for (final ListenableFuture<GetResponse> call : calls) {
            ends.merge(end(call), 1, Integer::sum);
          }
          calls.clear();
        }
        System.out.printf("no memory left at all, direct=%s: %s%n", direct, ends);
        assertTrue(
            EnumSet.of(
                    Status.Code.OK,
                    Status.Code.UNKNOWN,
                    Status.Code.UNAVAILABLE,
                    Status.Code.CANCELLED)
                .containsAll(ends.keySet()),
            ends::toString);
        assertTrue(
            ends.containsKey(Status.Code.UNKNOWN) || ends.containsKey(Status.Code.UNAVAILABLE));
        assertTrue(hasPoller(server));
      } finally {
        greedy.shutdownNow();
        beside.shutdownNow();
      }
    }
  }

  private static Status.Code end(ListenableFuture<GetResponse> call) throws Exception {
    try {
      call.get(LIMIT_S, TimeUnit.SECONDS); // the calls have no deadline
      return Status.Code.OK;
    } catch (ExecutionException e) {
      return Status.fromThrowable(e).getCode();
    }
  }

  private static boolean hasPoller(SystemChild server) throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + server.pid(), "task"))) {
      for (final Path task : tasks.toList()) {
        if (Files.readString(task.resolve("comm")).startsWith("ringfetch-serve")) {
          return true;
        }
      }
      return false;
    }
  }

  private SystemChild startServer(boolean direct) throws IOException {
    return SystemChild.start(
        List.of(),
        List.of("-Xmx64m", "-XX:+UseSerialGC"),
        Child.class,
        List.of(directory.toString(), Boolean.toString(direct)));
  }

  private RingChannel open(int port) {
    return SystemChild.channelBuilder(directory, port).requireFabric().build();
  }

  private static Status hoard(RingChannel channel, int chunk) {
    try {
      IndexGrpc.newBlockingStub(channel)
          .withDeadlineAfter(LIMIT_S, TimeUnit.SECONDS)
          .get(hoarding(chunk));
      return Status.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus();
    }
  }

  private static GetRequest hoarding(int chunk) {
    return GetRequest.newBuilder()
        .setIndex(HOARD)
        .setKey(ByteString.copyFromUtf8(Integer.toString(chunk)))
        .build();
  }

  /** A server with little memory. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) throws Exception {
      final RingServerBuilder builder =
          RingServerBuilder.forPort(0).shmDirectory(Path.of(args[0])).addService(new Hoarder());
      // The first line makes classes that could not be made later.
      System.getLogger(HeapTest.class.getName()).log(System.Logger.Level.INFO, "first line");
      final RingServer server =
          (Boolean.parseBoolean(args[1]) ? builder.directExecutor() : builder).build().start();
      System.out.println(server.getPort());
      final BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      while (input.readLine() != null) {
        System.out.println("sessions=" + server.sessionCount());
      }
      System.exit(0);
    }
  }

  /** Answers as {@link HashIndex}, but takes all there is if it is asked to. */
  private static final class Hoarder extends IndexGrpc.IndexImplBase {
    private final HashIndex index = new HashIndex();

    @Override
    public void get(GetRequest request, StreamObserver<GetResponse> responses) {
      if (HOARD.equals(request.getIndex())) {
        final int chunk = Integer.parseInt(request.getKey().toStringUtf8());
        final int taken =
            switch (chunk) {
              case STACK -> dig(0);
              case KEEP -> keep();
              default -> fill(chunk);
            };
        responses.onNext(
            GetResponse.newBuilder().setEntry(Entry.newBuilder().setVersion(taken)).build());
        responses.onCompleted();
      } else {
        index.get(request, responses);
      }
    }

    /** Takes everything, down to the last bytes, and keeps it for a while. */
    private static int keep() {
      Object[] hoard = new Object[1];
      for (int length = 1 << 18; length > 1; length >>= 1) {
        hoard = fillUp(hoard, length);
      }
      final long startNs = System.nanoTime();
      while (System.nanoTime() - startNs < KEEP_NS) {
        Thread.onSpinWait();
      }
      throw new OutOfMemoryError("kept " + hoard.length);
    }

    private static Object[] fillUp(Object[] hoard, int length) {
      Object[] all = hoard;
      try {
        while (true) {
          final Object[] more = new Object[length];
          more[0] = all;
          all = more;
        }
      } catch (OutOfMemoryError e) {
        return all;
      }
    }

    private static int fill(int chunk) {
      final List<byte[]> hoard = new ArrayList<>();
      while (hoard.size() < Integer.MAX_VALUE) {
        hoard.add(new byte[chunk]);
      }
      return hoard.size();
    }

    private static int dig(int depth) {
      return depth == Integer.MAX_VALUE ? 1 : 1 + dig(depth + 1);
    }
  }
}
