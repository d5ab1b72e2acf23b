package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.rdma.natives.Devices;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.Map;

/**
 * Use counts of the devices that fabrics of this process have open: how many addresses and
 * connections are bound to each, by the handle of its context.
 *
 * <p>Contexts are librdmacm's, which has one of a device for the whole process and keeps it when
 * nobody is bound to it any more; that of a removed device, until it looks for devices and finds
 * another. With a driver that cannot take a device from a process, like Soft-RoCE's, the removal
 * waits meanwhile. So the last user that leaves a removed device closes it to the kernel.
 */
final class OpenDevices {
  private static final Logger LOGGER = System.getLogger(OpenDevices.class.getName());

  @GuardedBy("OpenDevices.class")
  private static final Map<Long, Use> BY_CONTEXT = new HashMap<>();

  private OpenDevices() {}

  private static final class Use {
    int users;
    boolean removed;
  }

  /** Counts one more user that is bound to the device. */
  static synchronized void enter(long context) {
    BY_CONTEXT.computeIfAbsent(context, c -> new Use()).users++;
  }

  /** Marks the device as removed; called by a user that got its removal event. */
  static synchronized void remove(long context) {
    BY_CONTEXT.get(context).removed = true;
  }

  /**
   * Counts one user less. The caller has entered, and owns no object of the device any more except
   * the one that binds it.
   */
  static synchronized void leave(long context) {
    final Use use = BY_CONTEXT.get(context);
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
