package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** An index server over a data directory, in a process of its own. Not for several threads. */
final class JournalServer implements AutoCloseable {
  private static final String LISTENING = "index server listening on port ";

  private final ChildProcess process;
  private final String target;
  private final Rings rings;
  private ManagedChannel channel;

  private JournalServer(ChildProcess process, String target, Rings rings) {
    this.process = process;
    this.target = target;
    this.rings = rings;
  }

  /**
   * Starts a server; returns as soon as it serves.
   *
   * @param durability of its indexes
   * @param classes of its JVM
   */
  static JournalServer start(Path data, String durability, Rings rings, ServerClasses classes)
      throws IOException {
    final List<String> arguments = new ArrayList<>(rings.serverArguments());
    arguments.addAll(
        List.of("--port", "0", "--direct", "--memory", "1G", "--data", data.toString()));
    arguments.addAll(List.of("--durability", durability, "--snapshot-after", "64G"));
    final ChildProcess process =
        ChildProcess.start(classes.flags(), classes.classPath(), IndexServer.class, arguments);
    String line;
    do {
      line = process.readLine();
    } while (!line.startsWith(LISTENING));
    return new JournalServer(process, "localhost:" + line.substring(LISTENING.length()), rings);
  }

  /** Starts a process that reads and writes. */
  ChildProcess client(StoreKind kind, int entries, long seed, List<String> flags)
      throws IOException {
    return StoreClient.start(kind, entries, seed, target, Side.ring, rings, flags);
  }

  /** A channel of this process, which ends with the server. */
  ManagedChannel channel() {
    if (channel == null) {
      final RingChannelBuilder builder = RingChannelBuilder.forTarget(target).requireFabric();
      rings.apply(builder);
      channel = builder.usePlaintext().directExecutor().build();
    }
    return channel;
  }

  /** The target of its clients. */
  String target() {
    return target;
  }

  /** Id of the process. */
  long pid() {
    return process.pid();
  }

  /** Kills the server. */
  void kill() {
    endChannel();
    process.kill();
  }

  private void endChannel() {
    if (channel != null) {
      channel.shutdownNow();
      channel = null;
    }
  }

  @Override
  public void close() {
    endChannel();
    process.terminate();
  }
}
