package dev.ringfetch.benchmarks.memory;

import dev.ringfetch.benchmarks.stores.LockStore;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.memory.BroadcastHandler;
import dev.ringfetch.memory.BroadcastReader;
import dev.ringfetch.memory.LockHold;
import dev.ringfetch.memory.Memory;
import dev.ringfetch.memory.MemoryContext;
import dev.ringfetch.memory.RemoteLock;
import dev.ringfetch.memory.RemoteValue;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.aeron.Aeron;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.agrona.concurrent.status.CountersReader;

/** The reader's process of {@code bench memory}. */
public final class MemoryReader {
  private static final Duration WAIT = Duration.ofSeconds(30);
  private static final int FRAGMENTS = 1024;

  private final RemoteValue<Sample> value;
  private final RemoteValue<Long> word;
  private final BroadcastReader<Sample> broadcast;
  private final RemoteLock lock;
  private final CountersReader counters;
  private final int counter;
  private final Subscription subscription;
  private final LockStore redis; // null if there is none
  private long seen;

  private MemoryReader(Memory memory, Aeron aeron, LockStore redis) {
    this.value = memory.value("value", Sample.CODEC);
    this.word = memory.value("word", Sample.WORD);
    this.broadcast = memory.broadcast("broadcast", Sample.CODEC).fromLatest();
    this.lock = memory.lock("lock");
    this.counters = aeron.countersReader();
    this.counter = find(counters);
    this.subscription = aeron.addSubscription(Aeron.Context.IPC_CHANNEL, MemoryOwner.AERON_ID);
    this.redis = redis;
    while (!subscription.isConnected()) {
      Thread.onSpinWait();
    }
  }

  private static int find(CountersReader counters) {
    final int[] found = {CountersReader.NULL_COUNTER_ID};
    counters.forEach(
        (id, type, key, label) -> found[0] = type == MemoryOwner.AERON_ID ? id : found[0]);
    return found[0];
  }

  /** Runs the process. Arguments: directory, port, and the socket of a Redis server if there is. */
  public static void main(String[] args) throws Exception {
    final Path directory = Path.of(args[0]);
    final RingChannel channel =
        RingChannelBuilder.forTarget("localhost:" + args[1])
            .usePlaintext()
            .shmDirectory(directory)
            .build();
    try (Aeron aeron =
            Aeron.connect(
                new Aeron.Context().aeronDirectoryName(directory.resolve("aeron").toString()));
        Memory memory = Memory.connect(channel, new MemoryContext().shmDirectory(directory));
        LockStore redis = args.length > 2 ? LockStore.redis(Path.of(args[2])) : null) {
      if (!memory.awaitAttached(WAIT)) {
        throw new IllegalStateException("reads go by calls: " + memory.obstacle());
      }
      new MemoryReader(memory, aeron, redis).serve();
    }
    channel.shutdownNow();
  }

  private void serve() throws IOException {
    new CommandLoop()
        .on("value", arguments -> measure(arguments, () -> seen += value.get().version()))
        .on("word", arguments -> measure(arguments, () -> seen += word.get().value()))
        .on(
            "counter",
            arguments -> measure(arguments, () -> seen += counters.getCounterValue(counter)))
        .on("broadcast", arguments -> drain(arguments, true))
        .on("aeron", arguments -> drain(arguments, false))
        .on("lock", arguments -> measure(arguments, this::lock))
        .on("redis", arguments -> measure(arguments, redis::lockAndUnlock))
        .run();
  }

  private static Answer measure(List<String> arguments, Runnable operation) {
    return Measured.operations(Long.parseLong(arguments.get(0)), operation);
  }

  private void lock() {
    try (LockHold hold = lock.acquire(WAIT).orElseThrow()) {
      seen += hold.fence();
    }
  }

  /** Receives so many messages, which have been published before. */
  private Answer drain(List<String> arguments, boolean ours) {
    final int count = Integer.parseInt(arguments.get(0));
    final BroadcastHandler<Sample> ourHandler = sample -> seen += sample.first();
    final FragmentHandler aeronHandler =
        (buffer, offset, length, header) -> seen += buffer.getLong(offset);
    final long startNs = System.nanoTime();
    int received = 0;
    while (received < count) {
      received += ours ? broadcast.poll(ourHandler) : subscription.poll(aeronHandler, FRAGMENTS);
    }
    return new Answer().with("ns", (double) (System.nanoTime() - startNs) / count);
  }
}
