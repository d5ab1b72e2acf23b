package dev.ringfetch.memory;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Options of a {@link Memory}. Setters return this; a context is not changed once a memory was
 * connected with it.
 */
public final class MemoryContext {
  /** Default of {@link #timeout()}. */
  public static final Duration TIMEOUT_DEFAULT = Duration.ofSeconds(10);

  /** Default of {@link #spinTime()}: a call takes about as long. */
  public static final Duration SPIN_TIME_DEFAULT = Duration.ofNanos(20_000);

  private Duration timeout = TIMEOUT_DEFAULT;
  private Duration spinTime = SPIN_TIME_DEFAULT;
  private List<String> fabrics = List.of(FabricProviders.SHM, FabricProviders.VERBS);
  private final FabricContext fabricContext = new FabricContext();

  /** A context with the defaults. */
  public MemoryContext() {}

  /** How long a call may take, and a read by memory. */
  public Duration timeout() {
    return timeout;
  }

  /** Sets {@link #timeout()}. */
  public MemoryContext timeout(Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw new IllegalArgumentException("timeout=" + time);
    }
    this.timeout = time;
    return this;
  }

  /** How long {@link RemoteValue#awaitAfter} looks at memory before it makes a call. */
  public Duration spinTime() {
    return spinTime;
  }

  /** Sets {@link #spinTime()}. */
  public MemoryContext spinTime(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("spinTime=" + time);
    }
    this.spinTime = time;
    return this;
  }

  /** Names of the fabrics over which memory may be read, if they are available. */
  public List<String> fabrics() {
    return fabrics;
  }

  /** Sets {@link #fabrics()}. Default shm and verbs; with none, all goes by calls. */
  public MemoryContext fabrics(String... names) {
    this.fabrics = List.of(names);
    return this;
  }

  /** Sets the directory of the shared-memory fabric. Default {@code /dev/shm}. */
  public MemoryContext shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  FabricContext fabricContext() {
    return fabricContext.copy();
  }
}
