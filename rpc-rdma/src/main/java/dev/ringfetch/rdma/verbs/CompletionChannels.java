package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The channels that tell a doorbell of completions, one for each device that it meets. They live
 * until the doorbell and whoever is about to connect have let go of them. Any thread.
 */
final class CompletionChannels {
  /** Devices of one host, at the most. */
  static final int MAX_DEVICES = 14;

  private final Map<Long, IbvCompChannel> byContext = new HashMap<>(); // guarded by this
  private int holders = 1; // guarded by this: the doorbell
  private volatile IbvCompChannel[] all = {};

  /** Keeps them alive until {@link #release}. */
  synchronized void hold() throws IOException {
    if (holders == 0) {
      throw new IOException("the doorbell is closed");
    }
    holders++;
  }

  /** Lets go of them; whoever does so last destroys them. No queue is left then. */
  synchronized void release() {
    if (--holders == 0) {
      for (IbvCompChannel channel : all) {
        Disni.giveBack(channel, IbvCompChannel::destroyCompChannel);
      }
    }
  }

  /** The channel of a device. For who holds them. */
  synchronized IbvCompChannel of(IbvContext context) throws IOException {
    IbvCompChannel known = byContext.get(Disni.handle(context));
    if (known != null) {
      return known;
    }
    if (byContext.size() == MAX_DEVICES) {
      throw new IOException("more than " + MAX_DEVICES + " RDMA devices");
    }
    IbvCompChannel channel = context.createCompChannel();
    byContext.put(Disni.handle(context), channel);
    IbvCompChannel[] more = Arrays.copyOf(all, all.length + 1);
    more[all.length] = channel;
    all = more;
    return channel;
  }

  /** All of them so far, not to be changed. For who holds them. */
  IbvCompChannel[] all() {
    return all;
  }
}
