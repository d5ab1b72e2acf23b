package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Range;
import picocli.CommandLine.Option;

/** The options of a range of keys. */
final class RangeOptions {
  @Option(names = "--from", paramLabel = "KEY", description = "Keys from this one on.")
  private String from;

  @Option(names = "--to", paramLabel = "KEY", description = "Keys before this one.")
  private String to;

  @Option(names = "--prefix", paramLabel = "KEY", description = "Keys that begin with this.")
  private String prefix;

  /** Whether any of the options was given. */
  boolean isGiven() {
    return from != null || to != null || prefix != null;
  }

  /** The range in words. */
  String text() {
    if (prefix != null) {
      return "keys that begin with '" + Printable.shorten(prefix) + "'";
    }
    if (!isGiven()) {
      return "all keys";
    }
    return "keys"
        + (from == null ? "" : " from '" + Printable.shorten(from) + "' on")
        + (to == null ? "" : " before '" + Printable.shorten(to) + "'");
  }

  Range<ByteString> range(TypeOptions types) {
    if (prefix != null) {
      return prefix(types);
    }
    final ByteString start = from == null ? null : types.bound("--from", from);
    final ByteString end = to == null ? null : types.bound("--to", to);
    if (start != null
        && end != null
        && ByteString.unsignedLexicographicalComparator().compare(start, end) >= 0) {
      throw CommandFailure.misuse("--from is not below --to: no key is between them");
    }
    if (end == null) {
      return start == null || start.isEmpty() ? Range.all() : Range.atLeast(start);
    }
    return start == null ? Range.lessThan(end) : Range.closedOpen(start, end);
  }

  private Range<ByteString> prefix(TypeOptions types) {
    if (from != null || to != null) {
      throw CommandFailure.misuse("--prefix goes without --from and --to");
    }
    if (!types.keyType().hasPrefixes()) {
      throw CommandFailure.misuse(
          "--prefix needs keys of type string or hex, not " + types.keyType());
    }
    final ByteString bytes = types.bound("--prefix", prefix);
    return bytes.isEmpty() ? Range.all() : Range.prefix(bytes);
  }
}
