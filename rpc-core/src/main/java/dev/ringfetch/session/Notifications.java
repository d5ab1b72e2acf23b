package dev.ringfetch.session;

import dev.ringfetch.session.poller.Callbacks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What there is to tell once a session's token is let go: what every stream is told once, in a
 * chain through the streams, and what is seldom told, as tasks. The owner adds to it and takes all;
 * the taker tells, when it owns nothing any more.
 */
final class Notifications {
  private final Consumer<Stream> calls;
  private final Consumer<Stream> flowCalls;
  private Stream head;
  private Stream tail;
  private List<Stream> flows;
  private List<Runnable> tasks;

  /**
   * Creates it, without any.
   *
   * @param calls tells the call above a stream what happened.
   * @param flowCalls tells the call above a flow that there is something new in it.
   */
  Notifications(Consumer<Stream> calls, Consumer<Stream> flowCalls) {
    this.calls = calls;
    this.flowCalls = flowCalls;
  }

  /** Once only for a stream: another thread may be walking the chain in which it stood before. */
  void add(Stream stream) {
    if (tail == null) {
      head = stream;
    } else {
      tail.nextReady = stream;
    }
    tail = stream;
  }

  /** For a stream with a flow: as often as there is something new in that. */
  void addFlow(Stream stream) {
    if (!stream.flow.listed) {
      if (flows == null) {
        flows = new ArrayList<>();
      }
      flows.add(stream);
      stream.flow.listed = true; // last: it may have thrown
    }
  }

  /** For what is told seldom enough to be allocated. */
  void add(Runnable task) {
    if (tasks == null) {
      tasks = new ArrayList<>();
    }
    tasks.add(task);
  }

  /** True when there is a call to be told. */
  boolean hasCalls() {
    return head != null || flows != null;
  }

  /** The first of the chain, or null. */
  Stream first() {
    return head;
  }

  /** Takes the chain, for {@link #tell}; null when there is none. */
  Stream takeStreams() {
    final Stream taken = head;
    head = null;
    tail = null;
    return taken;
  }

  /** Takes the flows, for {@link #tellFlows}, and lets their calls see what is new in them. */
  List<Stream> takeFlows() {
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

  /** What came in with these is not to be seen: the memory went. */
  void distrustFlows() {
    if (flows != null) {
      flows.forEach(stream -> stream.flow.distrust());
    }
  }

  /** Takes the tasks, for {@link #run}; null when there are none. */
  List<Runnable> takeTasks() {
    final List<Runnable> taken = tasks;
    tasks = null;
    return taken;
  }

  /** Tells flows that were taken. */
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

  /** Tells a chain that was taken. */
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
