package dev.ringfetch.index.direct;

import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProviders;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Options of a {@link DirectReader}. Setters return this; a context is not changed once a reader
 * was opened with it.
 */
public final class DirectContext {
  /** Default of {@link #timeout()}. */
  public static final Duration TIMEOUT_DEFAULT = Duration.ofSeconds(10);

  /** Default of {@link #cachedNodes()}: enough for an index with some millions of entries. */
  public static final int CACHED_NODES_DEFAULT = 4096;

  private Duration timeout = TIMEOUT_DEFAULT;
  private Duration grantWait; // null: the timeout
  private int cachedNodes = CACHED_NODES_DEFAULT;
  private List<String> fabrics = List.of(FabricProviders.SHM, FabricProviders.VERBS);
  private final FabricContext fabricContext = new FabricContext();

  /** A context with the defaults. */
  public DirectContext() {}

  /** How long a read may take, by memory or by a call. */
  public Duration timeout() {
    return timeout;
  }

  /** Sets {@link #timeout()}. */
  public DirectContext timeout(Duration timeout) {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("timeout=" + timeout);
    }
    this.timeout = timeout;
    return this;
  }

  /** How long opening a reader waits for its first grant at most. Default {@link #timeout()}. */
  public Duration grantWait() {
    return grantWait == null ? timeout : grantWait;
  }

  /** Sets {@link #grantWait()}. With zero, the first reads go by calls. */
  public DirectContext grantWait(Duration wait) {
    if (wait.isNegative()) {
      throw new IllegalArgumentException("grantWait=" + wait);
    }
    this.grantWait = wait;
    return this;
  }

  /** How many inner nodes of an ordered index a reader remembers at most, of 1 KiB each. */
  public int cachedNodes() {
    return cachedNodes;
  }

  /**
   * Sets {@link #cachedNodes()}.
   *
   * @param nodes 0 or a power of two. Memory is allocated as nodes are read. Each level that is not
   *     cached costs a read of its node: a round trip over verbs.
   */
  public DirectContext cachedNodes(int nodes) {
    if (nodes < 0 || Integer.bitCount(nodes) > 1) {
      throw new IllegalArgumentException("neither 0 nor a power of two: cachedNodes=" + nodes);
    }
    this.cachedNodes = nodes;
    return this;
  }

  /** Names of the fabrics that may be used to read memory, if they are available. */
  public List<String> fabrics() {
    return fabrics;
  }

  /** Sets {@link #fabrics()}. Default shm and verbs. */
  public DirectContext fabrics(String... names) {
    this.fabrics = List.of(names);
    return this;
  }

  /** Sets the directory of the shared-memory fabric. Default {@code /dev/shm}. */
  public DirectContext shmDirectory(Path directory) {
    fabricContext.directory(directory);
    return this;
  }

  FabricContext fabricContext() {
    return fabricContext.copy().sweeps(false); // each reader opens fabrics of its own
  }
}
