package dev.ringfetch.benchmarks.parts;

import dev.ringfetch.benchmarks.NullChannel;
import dev.ringfetch.benchmarks.stages.OneThread;
import dev.ringfetch.examples.load.Lookup;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Channel;
import io.grpc.Server;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** {@code Index.Get} of 32 bytes by blocking stub, over more and less. */
@State(Scope.Thread)
public class CallParts {
  private static final int VALUE_LENGTH = 32;
  private static final int END_SECONDS = 10;

  /** The transport of the calls. */
  public enum Carrier {
    /** Nothing: handler and stub meet, see {@link NullChannel}. */
    none,
    /** A session in shared memory, both sides of which are this thread's. */
    oneThread,
    /** A ring between this thread and the server's poller. */
    twoThreads
  }

  /** The transport of the calls. */
  @Param public Carrier carrier;

  private Lookup lookup;
  private AutoCloseable end;

  /** Makes the first call, whose answer is compared. */
  @Setup
  public void setUp() throws IOException {
    lookup = new Lookup(IndexGrpc.newBlockingStub(open()), VALUE_LENGTH);
    lookup.check();
  }

  private Channel open() throws IOException {
    switch (carrier) {
      case none -> {
        end = () -> {};
        return new NullChannel(new IndexService(new Indexes()).bindService());
      }
      case oneThread -> {
        final OneThread thread = new OneThread();
        end = thread;
        return thread.channel();
      }
      case twoThreads -> {
        return openRing();
      }
    }
    throw new IllegalArgumentException("carrier=" + carrier);
  }

  private Channel openRing() throws IOException {
    final Server server =
        RingServerBuilder.forPort(0)
            .addService(new IndexService(new Indexes()))
            .directExecutor()
            .build()
            .start();
    final RingChannel ring =
        RingChannelBuilder.forTarget("localhost:" + server.getPort())
            .usePlaintext()
            .requireFabric()
            .directExecutor()
            .build();
    end =
        () -> {
          ring.shutdown();
          server.shutdown();
          if (!ring.awaitTermination(END_SECONDS, TimeUnit.SECONDS)
              || !server.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("does not end within " + END_SECONDS + " s");
          }
        };
    return ring;
  }

  /** Ends the transport. */
  @TearDown
  public void tearDown() throws Exception {
    end.close();
  }

  /** A call; it looks at the answer. */
  @Benchmark
  public void call() {
    lookup.run();
  }
}
