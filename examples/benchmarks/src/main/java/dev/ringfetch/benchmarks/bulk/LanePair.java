package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A lane, and a process at each end of it. */
public final class LanePair implements AutoCloseable {
  private static final Path DIRECTORY = Path.of("/dev/shm");
  private static final int CHUNK_LENGTH = 1024 * 1024;

  private final ChildProcess sender;
  private final ChildProcess receiver;

  private LanePair(ChildProcess sender, ChildProcess receiver) {
    this.sender = sender;
    this.receiver = receiver;
  }

  /** Makes the memory and starts the processes. */
  public static LanePair start(LaneKind kind) throws IOException {
    final Path file = Files.createTempFile(DIRECTORY, "ringfetch-bench-", ".lane");
    try {
      fill(file, LaneControl.LENGTH + kind.length());
      final List<String> arguments = List.of("--kind", kind.name(), "--file", file.toString());
      final List<String> flags = kind.flags();
      final ChildProcess sender = ChildProcess.start(flags, LaneProcess.class, arguments);
      try {
        final ChildProcess receiver = ChildProcess.start(flags, LaneProcess.class, arguments);
        final LanePair pair = new LanePair(sender, receiver);
        sender.ask("mapped");
        receiver.ask("mapped");
        return pair;
      } catch (IOException | RuntimeException e) {
        sender.close();
        throw e;
      }
    } finally {
      Files.delete(file);
    }
  }

  /** Writes zeros, which takes the memory now and not at the first touch. */
  private static void fill(Path file, int length) throws IOException {
    final byte[] zeros = new byte[CHUNK_LENGTH];
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int written = 0; written < length; written += CHUNK_LENGTH) {
        out.write(zeros, 0, Math.min(CHUNK_LENGTH, length - written));
      }
    }
  }

  /** The process that sends. */
  public ChildProcess sender() {
    return sender;
  }

  /** The process that receives. */
  public ChildProcess receiver() {
    return receiver;
  }

  /** Makes one process send, and the other receive, messages of some length for some time. */
  public Transfer transfer(int length, long millis) {
    final CompletableFuture<Answer> sent =
        CompletableFuture.supplyAsync(() -> sender.ask("send", length, millis));
    final Answer unused = receiver.ask("receive", length); // its exception names the cause
    return Transfer.parse(sent.join());
  }

  @Override
  public void close() {
    sender.close();
    receiver.close();
  }
}
