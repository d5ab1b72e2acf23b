package dev.ringfetch.memory;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.memory.v1.SharedMemoryGrpc;
import dev.ringfetch.memory.v1.SharedMemoryGrpc.SharedMemoryBlockingStub;
import dev.ringfetch.rpc.Experimental;
import io.grpc.Channel;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A client of the names of an owner's {@link Regions}. Values and broadcasts are read from the
 * owner's memory where a fabric connects the two processes, and by calls elsewhere and until the
 * owner has answered; counters and locks go by calls.
 *
 * <pre>{@code
 * try (Memory memory = Memory.connect(channel)) {
 *   RemoteValue<Quote> ibm = memory.value("ibm", QUOTE);
 *   Versioned<Quote> now = ibm.get();
 * }
 * }</pre>
 *
 * <p>A name is asked for when it is used first, so it need not exist before. Failures are {@link
 * io.grpc.StatusRuntimeException}s: NOT_FOUND for a name that the owner has not, UNAVAILABLE while
 * there is no owner.
 *
 * <p>Safe for use by many threads; each of the objects says whether it is. Closing does not close
 * the channel.
 */
@Experimental
public final class Memory implements AutoCloseable {
  private final Channel channel;
  private final Attachment attachment;
  private final long timeoutNs;
  private final long spinNs;

  private Memory(Channel channel, OpenFabrics fabrics, MemoryContext context) {
    this.channel = channel;
    this.timeoutNs = context.timeout().toNanos();
    this.spinNs = context.spinTime().toNanos();
    this.attachment = new Attachment(channel, fabrics, timeoutNs);
    attachment.domain(); // asks
  }

  /** Connects to the names of the owner behind a channel, with the default options. */
  public static Memory connect(Channel channel) {
    return connect(channel, new MemoryContext());
  }

  /** Connects to the names of the owner behind a channel. */
  public static Memory connect(Channel channel, MemoryContext context) {
    return new Memory(
        channel, OpenFabrics.open(context.fabrics(), context.fabricContext()), context);
  }

  /** For tests: over these fabrics, which are closed with this. */
  static Memory connect(Channel channel, MemoryContext context, List<Fabric> fabrics) {
    return new Memory(channel, new OpenFabrics(fabrics, "no fabric"), context);
  }

  /**
   * Waits until the owner's memory can be read, or the owner has refused that, so that the next
   * reads do not go by calls.
   *
   * @return true if it can be read.
   */
  public boolean awaitAttached(Duration timeout) {
    return attachment.await(System.nanoTime() + timeout.toNanos());
  }

  /** Why reads go by calls; empty if they go by memory. */
  public Optional<String> obstacle() {
    return Optional.ofNullable(attachment.obstacle());
  }

  /** A reader of a value. */
  public <T> RemoteValue<T> value(String name, Codec<T> codec) {
    return new RemoteValue<>(this, name, codec);
  }

  /** A broadcast, of which any number of readers can begin. */
  public <T> RemoteBroadcast<T> broadcast(String name, Codec<T> codec) {
    return new RemoteBroadcast<>(this, name, codec);
  }

  /** A counter. */
  public RemoteCounter counter(String name) {
    return new RemoteCounter(this, name);
  }

  /** A lock. */
  public RemoteLock lock(String name) {
    return new RemoteLock(this, name);
  }

  Channel channel() {
    return channel;
  }

  Attachment attachment() {
    return attachment;
  }

  long spinNs() {
    return spinNs;
  }

  /** When an operation that begins now has to end, by {@link System#nanoTime}. */
  long endNs() {
    return System.nanoTime() + timeoutNs;
  }

  /** A stub whose calls end at a time. */
  SharedMemoryBlockingStub stub(long endNs) {
    return SharedMemoryGrpc.newBlockingStub(channel)
        .withDeadline(Deadline.after(Math.max(0, endNs - System.nanoTime()), TimeUnit.NANOSECONDS));
  }

  /** A stub whose calls have the timeout. */
  SharedMemoryBlockingStub stub() {
    return stub(endNs());
  }

  /** Ends the attachment: later reads go by calls. */
  @Override
  public void close() {
    attachment.close();
  }
}
