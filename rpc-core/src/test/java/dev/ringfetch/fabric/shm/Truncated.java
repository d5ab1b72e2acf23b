package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;

/** Tasks of a {@link ShmChild} whose memory is taken away. It is the JVM's life that they risk. */
final class Truncated {
  /** System property: how often everything is touched before anything is taken away. */
  static final String WARM_UP = "truncated.warmUp";

  /** What a task says last. */
  static final String SURVIVED = "survived";

  private static final int PAGE = 4096;
  private static final int LENGTH = 16 * PAGE;
  private static final int ROUNDS = 200;
  private static final byte[] BYTES = new byte[1000];

  private static long sink;

  /** Every way of touching a region that rings use, at an index that is a multiple of 8. */
  enum Access {
    GET_LONG,
    GET_LONG_ACQUIRE,
    GET_INT,
    GET_INT_ACQUIRE,
    GET_HIGH_INT,
    GET_BYTES,
    GET_FEW_BYTES,
    GET_BYTES_FROM_BEFORE,
    PUT_LONG,
    PUT_LONG_RELEASE,
    PUT_INT,
    PUT_INT_RELEASE,
    PUT_BYTES,
    PUT_FEW_BYTES,
    PUT_BYTES_FROM_BEFORE,
    SCAN
  }

  private Truncated() {}

  /** True if the access and its verification, in one compiled method, ended in an error. */
  private static boolean fails(MappedRegion region, Access access, int index) {
    try {
      switch (access) {
        case GET_LONG -> sink += region.getLong(index);
        case GET_LONG_ACQUIRE -> sink += region.getLongAcquire(index);
        // Widened by the caller: the case in which an int load is fatal.
        case GET_INT -> sink = region.getInt(index);
        case GET_INT_ACQUIRE -> sink = region.getIntAcquire(index) & 0xFFFFFFFFL;
        case GET_HIGH_INT -> sink = region.getInt(index + 4);
        case GET_BYTES -> region.getBytes(index, BYTES, 0, BYTES.length);
        case GET_FEW_BYTES -> region.getBytes(index, BYTES, 0, 3);
        case GET_BYTES_FROM_BEFORE -> region.getBytes(PAGE - 100, BYTES, 0, 200);
        case PUT_LONG -> region.putLong(index, sink);
        case PUT_LONG_RELEASE -> region.putLongRelease(index, sink);
        case PUT_INT -> region.putInt(index, 1);
        case PUT_INT_RELEASE -> region.putIntRelease(index, 1);
        case PUT_BYTES -> region.putBytes(index, BYTES, 0, BYTES.length);
        case PUT_FEW_BYTES -> region.putBytes(index, BYTES, 0, 3);
        case PUT_BYTES_FROM_BEFORE -> region.putBytes(PAGE - 100, BYTES, 0, 200);
        case SCAN -> {
          for (int i = 0; i < 64; i++) {
            sink += region.getInt(index + 8 * i);
          }
        }
      }
      region.verify();
      return false;
    } catch (InternalError e) {
      return true;
    }
  }

  /**
   * As {@link #fails}, for what may also end in an error here, in the caller. On JDK 17, C1's
   * profiled code calls the compiler at the end of a round of a loop, and an error that comes back
   * from there passes by the handlers of the method that the loop is in.
   */
  private static boolean failsHere(MappedRegion region, Access access, int index) {
    try {
      return fails(region, access, index);
    } catch (InternalError e) {
      if (access != Access.SCAN) {
        throw e;
      }
      return true;
    }
  }

  private static int failures(MappedRegion region, int rounds) {
    int failures = 0;
    for (int i = 0; i < rounds; i++) {
      for (Access access : Access.values()) {
        failures += failsHere(region, access, PAGE + 8 * (i % 64)) ? 1 : 0;
      }
    }
    return failures;
  }

  /**
   * Truncates memory before and while it is touched; says what went wrong, and that it is alive.
   */
  static void touch(Path directory) throws IOException {
    int warmUp = Integer.getInteger(WARM_UP);
    MappedRegion healthy = map(directory.resolve("healthy"));
    // In two parts, so that what was compiled meanwhile runs before it counts.
    expect("warm-up", 0, failures(healthy, warmUp));
    pause();
    expect("warm-up", 0, failures(healthy, warmUp / 2 + 1));
    touchAfterwards(directory.resolve("after"));
    touchMeanwhile(directory.resolve("meanwhile"), warmUp);
    // This thread, and others, are as good as new.
    expect("healthy", 0, failures(healthy, warmUp / 2 + 1));
    System.out.println(SURVIVED);
  }

  private static void touchAfterwards(Path file) throws IOException {
    MappedRegion region = map(file);
    truncate(file, PAGE);
    for (Access access : Access.values()) {
      int failures = 0;
      for (int i = 0; i < ROUNDS; i++) {
        failures += failsHere(region, access, PAGE + 8 * i) ? 1 : 0;
      }
      expect(access.name(), ROUNDS, failures);
    }
    // What was left is still there.
    region.putLong(PAGE - 8, 7);
    region.verify();
    expect("rest", 7, (int) region.getLong(PAGE - 8));
  }

  private static void touchMeanwhile(Path file, int warmUp) throws IOException {
    MappedRegion region = map(file);
    Thread truncater =
        new Thread(
            () -> {
              pause();
              try {
                truncate(file, 0);
              } catch (IOException e) {
                System.out.println(e);
              }
            });
    truncater.start();
    long startNs = System.nanoTime();
    int failures = 0;
    while (failures == 0 && System.nanoTime() - startNs < FabricHarness.DEADLINE_NS) {
      failures = failures(region, warmUp / 100 + 1);
    }
    System.out.println(failures > 0 ? "told" : "never told");
  }

  private static void expect(String what, int expected, int actual) {
    if (expected != actual) {
      System.out.println(what + ": expected=" + expected + " actual=" + actual);
    }
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(100);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static MappedRegion map(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      return new MappedRegion(channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH));
    }
  }

  private static void truncate(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  /**
   * Offers twice; each peer's memory is looked at when it rings, and a peer that took it away ends.
   */
  static void serve(Fabric fabric, Doorbell doorbell) throws IOException {
    for (int i = 0; i < 2; i++) {
      Fabric.Offer offer =
          fabric.offer(
              doorbell, fabric.hint(), FabricHarness.LENGTH, ShmChild.TOKEN, Truncated::look);
      System.out.println(HexFormat.of().formatHex(offer.descriptor()));
    }
    while (true) {
      doorbell.await(Doorbell.FOREVER);
    }
  }

  private static void look(QueuePair queuePair) {
    queuePair.bind(
        new QueuePair.Listener() {
          @Override
          public void onDoorbell() {
            MemoryRegion memory = queuePair.memory();
            String seen;
            try {
              queuePair.read(queuePair.remote(), 0, memory, 64, 64, 56, QueuePair.UNSIGNALED);
              long word = memory.getLongAcquire(0);
              memory.putLongRelease(8, word);
              memory.verify();
              seen = "word=" + word;
            } catch (InternalError e) {
              queuePair.close();
              seen = "taken away";
            }
            System.out.println(seen);
          }

          @Override
          public void onDisconnected(String reason) {}
        });
  }
}
