package dev.ringfetch.examples.broker;

import com.google.protobuf.ByteString;

/**
 * The result of the consumers' work on a partition: a count and a hash of its records in their
 * order. A record that is left out, taken twice or out of order gives another one.
 */
record Tally(long count, long hash) {
  static final Tally NONE = new Tally(0, 1);

  /** The result with one more record. */
  Tally with(long offset, String value) {
    return new Tally(count + 1, hash * 0x9E3779B97F4A7C15L + offset * 31 + value.hashCode());
  }

  ByteString encoded() {
    return ByteString.copyFromUtf8(count + " " + hash);
  }

  static Tally decoded(ByteString bytes) {
    final String[] words = bytes.toStringUtf8().split(" ", 0);
    return new Tally(Long.parseLong(words[0]), Long.parseLong(words[1]));
  }

  /** The key in the index of commits: under the group's tag, as are its commits. */
  static String key(String group, int partition) {
    return "{" + group + "}/tally/" + partition;
  }
}
