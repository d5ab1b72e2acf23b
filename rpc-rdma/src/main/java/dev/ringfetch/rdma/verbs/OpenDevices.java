package dev.ringfetch.rdma.verbs;

import dev.ringfetch.rdma.natives.Devices;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.Map;

/**
 * The devices that fabrics of this process have open, by the handles of their contexts, and how
 * many addresses and connections are bound to each.
 *
 * <p>Contexts are librdmacm's, which has one of a device for the whole process and keeps it when
 * nobody is bound to it any more; one of a device that was removed, until it looks for devices and
 * finds another. A driver that cannot take a device from a process, like Soft-RoCE's, meanwhile has
 * whoever removes it wait. So the last one who leaves a removed device closes it to the kernel.
 */
final class OpenDevices {
  private static final Logger LOGGER = System.getLogger(OpenDevices.class.getName());
  private static final Map<Long, Use> BY_CONTEXT = new HashMap<>(); // guarded by the class

  private OpenDevices() {}

  private static final class Use {
    int users;
    boolean removed;
  }

  /** For who is bound to the device. */
  static synchronized void enter(long context) {
    BY_CONTEXT.computeIfAbsent(context, c -> new Use()).users++;
  }

  /** The device was removed, as somebody was told who is bound to it. */
  static synchronized void remove(long context) {
    BY_CONTEXT.get(context).removed = true;
  }

  /** For who has entered, and has nothing of the device any more but what it is bound by. */
  static synchronized void leave(long context) {
    Use use = BY_CONTEXT.get(context);
    if (--use.users > 0) {
      return;
    }
    BY_CONTEXT.remove(context);
    if (use.removed) {
      try {
        Devices.abandon(context);
      } catch (IOException e) {
        LOGGER.log(Level.WARNING, "a device that was removed stays open", e);
      }
    }
  }
}
