package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The contract of scans, checked against what the owner did: keys come in order, none twice, none
 * out of the range; each with a version that it had at some moment of the scan; and each that was
 * there throughout does come. Moments are numbers of any clock that owner and readers share.
 */
public final class ScanChecker {
  /** What a scan gave out. */
  public record Result(ByteString key, long version) {}

  /**
   * A scan.
   *
   * @param end empty: none
   * @param from a moment before it began
   * @param to a moment after it ended
   */
  public record Scan(
      boolean reverse,
      ByteString start,
      ByteString end,
      List<Result> results,
      long from,
      long to) {}

  /** A state of a key, 0 for absent: it ended the one before between two moments. */
  private record State(long version, long begin, long end) {}

  private static final Comparator<ByteString> ORDER =
      ByteString.unsignedLexicographicalComparator();

  private final NavigableMap<ByteString, List<State>> history = new TreeMap<>(ORDER);

  /** Notes a state of a key; 0 for absent, as each key is at first. */
  public void became(ByteString key, long version, long begin, long end) {
    history
        .computeIfAbsent(key, unused -> new ArrayList<>(List.of(new State(0, -1, -1))))
        .add(new State(version, begin, end));
  }

  /** Throws an AssertionError if the contract was broken. */
  public void check(Scan scan) {
    ByteString before = null;
    final NavigableMap<ByteString, Long> found = new TreeMap<>(ORDER);
    for (Result result : scan.results) {
      final ByteString key = result.key;
      if (before != null
          && (scan.reverse ? ORDER.compare(key, before) >= 0 : ORDER.compare(key, before) <= 0)) {
        throw new AssertionError("not in order: " + text(before) + ", " + text(key));
      }
      before = key;
      if (!isInRange(scan, key)) {
        throw new AssertionError("not in the range: " + text(key));
      }
      if (result.version == 0 || !had(key, result.version, scan.from, scan.to)) {
        throw new AssertionError(
            "was not so: "
                + text(key)
                + " version="
                + result.version
                + " states="
                + near(key, scan));
      }
      found.put(key, result.version);
    }
    for (ByteString key : history.keySet()) {
      if (isInRange(scan, key) && !found.containsKey(key) && !had(key, 0, scan.from, scan.to)) {
        throw new AssertionError("was there: " + text(key) + " states=" + near(key, scan));
      }
    }
  }

  private static boolean isInRange(Scan scan, ByteString key) {
    return ORDER.compare(key, scan.start) >= 0
        && (scan.end.isEmpty() || ORDER.compare(key, scan.end) < 0);
  }

  /** Whether a key had a version at some moment between two. */
  private boolean had(ByteString key, long version, long from, long to) {
    final List<State> states = history.get(key);
    if (states == null) {
      return version == 0;
    }
    for (int i = states.size() - 1; i >= 0; i--) {
      final State state = states.get(i);
      if (i + 1 < states.size() && states.get(i + 1).end < from) {
        return false; // and so all before
      }
      if (state.version == version && state.begin <= to) {
        return true;
      }
    }
    return false;
  }

  private String near(ByteString key, Scan scan) {
    final List<State> near = new ArrayList<>();
    for (State state : history.getOrDefault(key, List.of())) {
      if (state.end >= scan.from - 10_000 && state.begin <= scan.to + 10_000) {
        near.add(state);
      }
    }
    return near + " from=" + scan.from + " to=" + scan.to;
  }

  private static String text(ByteString key) {
    return key.size() > 40 ? key.substring(0, 40) + "..." : key.toStringUtf8();
  }
}
