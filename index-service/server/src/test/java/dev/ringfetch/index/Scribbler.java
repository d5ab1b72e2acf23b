package dev.ringfetch.index;

import dev.ringfetch.fabric.GateDescriptor;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A hostile process of the same user: writes to the files of another's index memory, or truncates
 * them. As its main program it does so until it is killed, or has truncated all.
 */
final class Scribbler implements AutoCloseable {
  /** What it does to the files. */
  enum Manner {
    /** Stores random words at random places, one each millisecond. */
    SCRIBBLE,
    /** Stores random words in place of a gate's. */
    GATE,
    /** Truncates each to no length. */
    TRUNCATE
  }

  private static final int HEADER_LENGTH = 4096; // of the fabric's, which is not index memory
  private static final int LIMIT_S = 60;

  private final Process process;

  private Scribbler(Process process) {
    this.process = process;
  }

  /** Starts one on these files. */
  static Scribbler start(Manner manner, long seed, List<Path> files) throws IOException {
    final List<String> command = TestJvm.command();
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Scribbler.class.getName());
    command.add(manner.name());
    command.add(Long.toString(seed));
    files.forEach(file -> command.add(file.toString()));
    return new Scribbler(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** Waits until it has begun. */
  void awaitBegin() throws IOException {
    if (process.getInputStream().read() < 0) {
      throw new AssertionError("has ended");
    }
  }

  /** Waits until it has ended by itself. */
  void awaitEnd() throws InterruptedException {
    if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new AssertionError("has not done its work");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /**
   * Runs the program.
   *
   * @param args manner; seed; files
   */
  public static void main(String[] args) throws Exception {
    final Manner manner = Manner.valueOf(args[0]);
    final Random random = new Random(Long.parseLong(args[1]));
    final List<RandomAccessFile> files = new ArrayList<>();
    for (int i = 2; i < args.length; i++) {
      files.add(new RandomAccessFile(args[i], "rw"));
    }
    System.out.write('b');
    System.out.flush();
    if (manner == Manner.TRUNCATE) {
      for (final RandomAccessFile file : files) {
        file.setLength(0);
      }
      return;
    }
    while (true) {
      final RandomAccessFile file = files.get(random.nextInt(files.size()));
      final long words = (file.length() - HEADER_LENGTH) / Long.BYTES;
      file.seek(
          manner == Manner.GATE
              ? GateDescriptor.WORD_OFFSET
              : HEADER_LENGTH + Long.BYTES * random.nextLong(words));
      file.writeLong(random.nextLong());
      Thread.sleep(1);
    }
  }
}
