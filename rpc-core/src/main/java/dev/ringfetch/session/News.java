package dev.ringfetch.session;

import java.util.ArrayList;
import java.util.List;

/**
 * What there is to tell once a session's token is let go: what every stream is told once, in a
 * chain through the streams, and what is seldom told, as tasks. The owner adds to it and takes all;
 * the taker tells, when it owns nothing any more.
 */
final class News {
  private Stream head;
  private Stream tail;
  private List<Runnable> tasks;

  /** Once only for a stream: another thread may be walking the chain in which it stood before. */
  void add(Stream stream) {
    if (tail == null) {
      head = stream;
    } else {
      tail.nextReady = stream;
    }
    tail = stream;
  }

  /** For what is told seldom enough to be allocated. */
  void add(Runnable task) {
    if (tasks == null) {
      tasks = new ArrayList<>();
    }
    tasks.add(task);
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

  /** Takes the tasks, for {@link #run}; null when there are none. */
  List<Runnable> takeTasks() {
    final List<Runnable> taken = tasks;
    tasks = null;
    return taken;
  }

  /** Tells a chain that was taken. */
  static void tell(Session session, Stream first) {
    Stream stream = first;
    while (stream != null) {
      final Stream next = stream.nextReady;
      stream.nextReady = null;
      try {
        session.tell(stream);
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
