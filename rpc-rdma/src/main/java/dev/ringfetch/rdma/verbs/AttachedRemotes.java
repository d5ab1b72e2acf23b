package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.util.Arrays;

/**
 * The memory of the peer that this side may read: the session's, and what the peer has registered
 * and this side has attached. Each descriptor is good once, and a later one ends those before it.
 *
 * <p>Thread-safe; a {@link #check} takes no lock.
 */
final class AttachedRemotes {
  private static final RemoteMemory[] NONE = {};

  private final RemoteMemory session;

  /** Replaced with the monitor, read by any thread. */
  private volatile RemoteMemory[] attached = NONE;

  @GuardedBy("this")
  private int next; // number of the first descriptor that is still good

  /**
   * Creates it.
   *
   * @param session the peer's copy of the session's memory.
   */
  AttachedRemotes(RemoteMemory session) {
    this.session = session;
  }

  /**
   * Attaches memory.
   *
   * @param maxLength longest memory that is taken, in bytes.
   * @throws IOException when the descriptor is none of this connection's, or not good any more.
   */
  synchronized RemoteMemory attach(byte[] descriptor, int maxLength) throws IOException {
    final RegisteredDescriptor described = RegisteredDescriptor.decode(descriptor);
    if (!described.isOf(session)) {
      throw new IOException("memory of another connection: number=" + described.number());
    }
    if (described.number() < next) {
      throw new IOException("a descriptor of before: number=" + described.number());
    }
    final RemoteMemory memory = described.memory();
    if (memory.length() > maxLength) {
      throw new IOException("too long: length=" + memory.length() + " limit=" + maxLength);
    }
    next = described.number() + 1;
    final RemoteMemory[] grown = Arrays.copyOf(attached, attached.length + 1);
    grown[attached.length] = memory;
    attached = grown;
    return memory;
  }

  /** Refuses memory that this side may not read. */
  void check(RemoteMemory remote) {
    for (final RemoteMemory known : attached) {
      if (known.equals(remote)) {
        return;
      }
    }
    WorkRequests.checkRemote(session, remote);
  }
}
