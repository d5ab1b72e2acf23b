package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import dev.ringfetch.rdma.natives.Disni;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * The completion channels of a doorbell, one for each device at which it has connections. A channel
 * ends with the last of them, so that a device that is removed can go.
 *
 * <p>{@link #leave} belongs to the doorbell's owner, which may be reading a channel, until the
 * doorbell is closed; everything else may be called from any thread.
 */
final class CompletionChannels {
  /** Devices of one host, at the most. */
  static final int MAX_DEVICES = 14;

  @GuardedBy("this")
  private final Map<Long, Shared> byContext = new HashMap<>();

  @GuardedBy("this")
  private boolean closed;

  private volatile IbvCompChannel[] all = {};

  private static final class Shared {
    final IbvCompChannel channel;
    int connections;

    Shared(IbvCompChannel channel) {
      this.channel = channel;
    }
  }

  /** The channel of a device, until {@link #leave}. */
  synchronized IbvCompChannel join(IbvContext context) throws IOException {
    if (closed) {
      throw new IOException("the doorbell is closed");
    }
    Shared shared = byContext.get(Disni.handle(context));
    if (shared == null) {
      if (byContext.size() == MAX_DEVICES) {
        throw new IOException("more than " + MAX_DEVICES + " RDMA devices");
      }
      shared = new Shared(context.createCompChannel());
      byContext.put(Disni.handle(context), shared);
      list();
    }
    shared.connections++;
    return shared.channel;
  }

  /**
   * Records that a connection and its queues have ended at a device, given by its context's handle.
   */
  synchronized void leave(long device) {
    final Shared shared = byContext.get(device);
    if (--shared.connections == 0) {
      byContext.remove(device);
      list();
      Disni.giveBack(shared.channel, IbvCompChannel::destroyCompChannel);
    }
  }

  @GuardedBy("this")
  private void list() {
    all = byContext.values().stream().map(s -> s.channel).toArray(IbvCompChannel[]::new);
  }

  /** Closes all channels; none can be joined any more. */
  synchronized void close() {
    closed = true;
  }

  /** All channels. Callers must not change the array; a change of the channels makes a new one. */
  IbvCompChannel[] all() {
    return all;
  }
}
