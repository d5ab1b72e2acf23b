package dev.ringfetch.examples.cluster;

import dev.ringfetch.index.client.IndexEntry;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The record of what clients know of one key, whose value only grows: the newest entry that was
 * acknowledged or seen, and how many writes were acknowledged. Thread-safe.
 */
final class KeyRecord {
  /** What is known before the first write. */
  private static final Seen NOTHING = new Seen(0, 0);

  private final String key;
  private final AtomicReference<Seen> newest = new AtomicReference<>(NOTHING);
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();

  /**
   * An entry.
   *
   * @param version 0: there was none
   */
  record Seen(long version, long value) {
    boolean isOlderThan(Seen other) {
      return version < other.version
          || value < other.value
          || (version == other.version && value != other.value);
    }
  }

  KeyRecord(String key) {
    this.key = key;
  }

  String key() {
    return key;
  }

  /** What a read that begins now must find at least. */
  Seen floor() {
    return newest.get();
  }

  /**
   * Notes what a read has found.
   *
   * @param floor from before the read
   * @return whether that is not older
   */
  boolean found(Seen floor, Optional<IndexEntry<String, Long>> entry) {
    final Seen seen = entry.map(found -> new Seen(found.version(), found.value())).orElse(NOTHING);
    note(seen);
    return !seen.isOlderThan(floor);
  }

  /** Notes that a write was acknowledged. */
  void acknowledged(long version, long value) {
    acknowledged.incrementAndGet();
    note(new Seen(version, value));
  }

  /** Notes that an increment was acknowledged, whose version is not known. */
  void counted() {
    acknowledged.incrementAndGet();
  }

  private void note(Seen seen) {
    newest.accumulateAndGet(seen, (one, other) -> one.version >= other.version ? one : other);
  }

  /** Notes that a write may have been carried out, or not. */
  void unknown() {
    unknown.incrementAndGet();
  }

  /** Writes that were acknowledged so far. */
  long acknowledgedWrites() {
    return acknowledged.get();
  }

  /** Writes so far whose outcome is unknown. */
  long unknownWrites() {
    return unknown.get();
  }
}
