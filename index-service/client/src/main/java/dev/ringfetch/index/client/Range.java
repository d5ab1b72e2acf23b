package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.KeyRange;
import java.util.function.Function;

/**
 * A range of keys of an {@link OrderedIndex}, in the order of the index's key codec. Immutable.
 *
 * @param <K> type of the keys.
 */
public final class Range<K> {
  /** The byte that, appended to a key, makes the next key. */
  private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);

  /** A range without keys. */
  private static final KeyRange NOTHING = KeyRange.newBuilder().setStart(ZERO).setEnd(ZERO).build();

  private final String text;
  private final Function<OrderedCodec<K>, KeyRange> encoder;

  private Range(String text, Function<OrderedCodec<K>, KeyRange> encoder) {
    this.text = text;
    this.encoder = encoder;
  }

  /** All keys. */
  public static <K> Range<K> all() {
    return new Range<>("all", codec -> KeyRange.getDefaultInstance());
  }

  /** Keys from one, included, to another, excluded. */
  public static <K> Range<K> closedOpen(K from, K to) {
    return new Range<>(
        "[" + from + ", " + to + ")", codec -> between(codec.encode(from), codec.encode(to)));
  }

  /** Keys from one to another, both included. */
  public static <K> Range<K> closed(K from, K to) {
    return new Range<>(
        "[" + from + ", " + to + "]",
        codec -> between(codec.encode(from), codec.encode(to).concat(ZERO)));
  }

  /** Keys between two, both excluded. */
  public static <K> Range<K> open(K from, K to) {
    return new Range<>(
        "(" + from + ", " + to + ")",
        codec -> between(codec.encode(from).concat(ZERO), codec.encode(to)));
  }

  /** Keys from one, excluded, to another, included. */
  public static <K> Range<K> openClosed(K from, K to) {
    return new Range<>(
        "(" + from + ", " + to + "]",
        codec -> between(codec.encode(from).concat(ZERO), codec.encode(to).concat(ZERO)));
  }

  /** A key and those after it. */
  public static <K> Range<K> atLeast(K from) {
    return new Range<>(
        "[" + from + ", ...", codec -> KeyRange.newBuilder().setStart(codec.encode(from)).build());
  }

  /** Keys after one. */
  public static <K> Range<K> greaterThan(K bound) {
    return new Range<>(
        "(" + bound + ", ...",
        codec -> KeyRange.newBuilder().setStart(codec.encode(bound).concat(ZERO)).build());
  }

  /** Keys before one. */
  public static <K> Range<K> lessThan(K to) {
    return new Range<>("... " + to + ")", codec -> between(ByteString.EMPTY, codec.encode(to)));
  }

  /** A key and those before it. */
  public static <K> Range<K> atMost(K bound) {
    return new Range<>(
        "... " + bound + "]", codec -> between(ByteString.EMPTY, codec.encode(bound).concat(ZERO)));
  }

  /**
   * Keys whose bytes begin with those of this one: for strings and bytes. Of composite keys see
   * {@link PairCodec#startingWith}.
   */
  public static <K> Range<K> prefix(K prefix) {
    return new Range<>("prefix=" + prefix, codec -> startingWith(codec.encode(prefix)));
  }

  /** Keys with these first bytes. */
  static <K> Range<K> ofPrefix(String text, ByteString prefix) {
    return new Range<>(text, codec -> startingWith(prefix));
  }

  private static KeyRange startingWith(ByteString prefix) {
    return KeyRange.newBuilder().setPrefix(prefix).build();
  }

  /** In the protocol, an empty end means that there is none; no key is below an empty one. */
  private static KeyRange between(ByteString start, ByteString end) {
    return end.isEmpty() ? NOTHING : KeyRange.newBuilder().setStart(start).setEnd(end).build();
  }

  /** Translates to the range of the encoded keys. */
  KeyRange encode(OrderedCodec<K> codec) {
    return encoder.apply(codec);
  }

  @Override
  public String toString() {
    return text;
  }
}
