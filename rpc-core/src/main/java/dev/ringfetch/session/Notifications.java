package dev.ringfetch.session;

import dev.ringfetch.session.poller.Callbacks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The pending notifications of a session, delivered after its token was released: the single
 * notification of each stream, in a chain through the streams, and rare ones as tasks. The owner
 * adds and takes them; the taker delivers them without ownership.
 */
final class Notifications {
  private final Consumer<Stream> calls;
  private final Consumer<Stream> flowCalls;
  private @Nullable Stream head;
  private @Nullable Stream tail;
  private @Nullable List<Stream> flows;
  private @Nullable List<Runnable> tasks;

  /**
   * Creates an empty set of notifications.
   *
   * @param calls notifies the call of a stream.
   * @param flowCalls notifies the call of a flow of changes.
   */
  Notifications(Consumer<Stream> calls, Consumer<Stream> flowCalls) {
    this.calls = calls;
    this.flowCalls = flowCalls;
  }

  /**
   * Adds a stream's notification; once only, as another thread may be walking the chain that
   * contained it.
   */
  void add(Stream stream) {
    if (tail == null) {
      head = stream;
    } else {
      tail.nextReady = stream;
    }
    tail = stream;
  }

  /** Adds a notification of a flow; as often as it changes. */
  void addFlow(Stream stream) {
    if (!stream.flow.listed) {
      if (flows == null) {
        flows = new ArrayList<>();
      }
      flows.add(stream);
      stream.flow.listed = true; // last: it may have thrown
    }
  }

  /** Adds a notification that is rare enough to be allocated. */
  void add(Runnable task) {
    if (tasks == null) {
      tasks = new ArrayList<>();
    }
    tasks.add(task);
  }

  /** True when a call is to be notified. */
  boolean hasCalls() {
    return head != null || flows != null;
  }

  /** The first of the chain. */
  @Nullable Stream first() {
    return head;
  }

  /** Takes the chain, for {@link #tell}; null when there is none. */
  @Nullable Stream takeStreams() {
    final Stream taken = head;
    head = null;
    tail = null;
    return taken;
  }

  /** Takes the flows, for {@link #tellFlows}, and lets their calls see what is new in them. */
  @Nullable List<Stream> takeFlows() {
    final List<Stream> taken = flows;
    if (taken != null) {
      for (final Stream stream : taken) {
        stream.flow.listed = false;
        stream.flow.publish();
      }
      flows = null;
    }
    return taken;
  }

  /** Drops the inbound units of these flows, because the memory was taken away. */
  void distrustFlows() {
    if (flows != null) {
      flows.forEach(stream -> stream.flow.distrust());
    }
  }

  /** Takes the tasks, for {@link #run}; null when there are none. */
  @Nullable List<Runnable> takeTasks() {
    final List<Runnable> taken = tasks;
    tasks = null;
    return taken;
  }

  /** Notifies flows that were taken. */
  void tellFlows(List<Stream> flows) {
    if (flows != null) {
      for (final Stream stream : flows) {
        try {
          flowCalls.accept(stream);
        } catch (Throwable t) { // the next one is told all the same
          Callbacks.report(t);
        }
      }
    }
  }

  /** Notifies a chain that was taken. */
  void tell(Stream first) {
    Stream stream = first;
    while (stream != null) {
      final Stream next = stream.nextReady;
      stream.nextReady = null;
      try {
        calls.accept(stream);
      } catch (Throwable t) { // the next one is told all the same
        Callbacks.report(t);
      }
      stream = next;
    }
  }

  /** Runs tasks that were taken. */
  static void run(List<Runnable> tasks) {
    if (tasks != null) {
      tasks.forEach(Callbacks::run);
    }
  }
}
