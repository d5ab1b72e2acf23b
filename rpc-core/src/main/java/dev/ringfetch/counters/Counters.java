package dev.ringfetch.counters;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * The registry of the counters in this process, with the totals of the subjects that have ended.
 * All channels and servers that use one directory share one of these, and while there is one of
 * them its {@link Publisher} keeps the file that other processes read.
 *
 * <p>A counting object keeps its counts where it likes (in a {@link Tally}, an adder, a field) and
 * registers here how it is read. Thread-safe.
 */
public final class Counters {
  /** One for each directory that was ever used: totals are the process's, and outlive a channel. */
  private static final Map<Path, Counters> SHARED = new HashMap<>();

  private static final List<Runnable> LISTENERS = new CopyOnWriteArrayList<>();

  @GuardedBy("SHARED")
  private int users;

  private volatile Publisher publisher; // null while nobody uses it

  @GuardedBy("this")
  private final Set<Subject> subjects = new LinkedHashSet<>();

  @GuardedBy("this")
  private final Map<Counter, Long> ended = new EnumMap<>(Counter.class);

  /** Counters that nobody publishes. */
  public Counters() {}

  /** The counters of the users of this directory; published until {@link #release}. */
  public static Counters acquire(Path directory) {
    final Path path = directory.toAbsolutePath().normalize();
    synchronized (SHARED) {
      final Counters counters = SHARED.computeIfAbsent(path, absent -> new Counters());
      if (counters.users++ == 0) {
        counters.publisher = new Publisher(counters, path);
        counters.publisher.start();
      }
      return counters;
    }
  }

  /** Called once by each that acquired. The file is gone when the last one's call returns. */
  public void release() {
    final Publisher ending;
    synchronized (SHARED) {
      if (--users > 0) {
        return;
      }
      ending = publisher;
      publisher = null;
    }
    ending.close();
  }

  /**
   * Lists something, until it is {@linkplain #remove removed}.
   *
   * @param label its name, for people.
   * @param values what each counter of the kind is at; asked in any thread, and must not block.
   */
  public Subject add(Kind kind, String label, ToLongFunction<Counter> values) {
    return add(kind, () -> label, () -> "", values);
  }

  /**
   * Lists an object whose name may change. All functions are called on any thread, under this
   * object's monitor: a lock that they take must not be held around a call of this object, other
   * than {@link #changed}.
   *
   * @param detail its present condition in one line, for people.
   */
  public Subject add(
      Kind kind, Supplier<String> label, Supplier<String> detail, ToLongFunction<Counter> values) {
    final Subject subject = new Subject(kind, label, detail, values);
    synchronized (this) {
      subjects.add(subject);
    }
    changed();
    return subject;
  }

  /** Lists something no longer: it has ended, and counts no more. Idempotent. */
  public void remove(Subject subject) {
    synchronized (this) {
      if (subjects.remove(subject)) {
        for (final Counter counter : subject.kind().counters()) {
          if (counter.type() == Counter.Type.TOTAL) {
            ended.merge(counter, subject.value(counter), Long::sum);
          }
        }
      }
    }
    changed();
  }

  /**
   * Something was counted: it will be in the file in a moment. To be called after a volatile store
   * or a fence that comes after the counting. Costs a volatile load, and after a pause a system
   * call that wakes the publisher.
   */
  public void changed() {
    final Publisher current = publisher;
    if (current != null) {
      current.changed();
    }
  }

  /** What is listed at present, in the order of its coming. */
  public synchronized List<Subject> subjects() {
    return List.copyOf(subjects);
  }

  /** What a counter is at over all that there is and, if it only grows, that there was. */
  public synchronized long total(Counter counter) {
    long sum = ended.getOrDefault(counter, 0L);
    for (final Subject subject : subjects) {
      if (subject.kind() == counter.kind()) {
        sum += subject.value(counter);
      }
    }
    return sum;
  }

  /** What a counter is at over all directories of this process. */
  public static long processTotal(Counter counter) {
    long sum = 0;
    for (final Counters counters : ofThisProcess()) {
      sum += counters.total(counter);
    }
    return sum;
  }

  /** All counters of this process that were ever published. */
  public static List<Counters> ofThisProcess() {
    synchronized (SHARED) {
      return new ArrayList<>(SHARED.values());
    }
  }

  /**
   * Has a listener told, a moment after something was listed or removed, and at other times. It is
   * called in a thread that serves no call.
   */
  public static void addListener(Runnable listener) {
    LISTENERS.add(listener);
  }

  /** Has a listener told no longer. */
  public static void removeListener(Runnable listener) {
    LISTENERS.remove(listener);
  }

  static void tellListeners() {
    for (final Runnable listener : LISTENERS) {
      try {
        listener.run();
      } catch (RuntimeException e) { // the next one is told all the same
        System.getLogger(Counters.class.getName())
            .log(System.Logger.Level.WARNING, "a listener of counters failed", e);
      }
    }
  }
}
