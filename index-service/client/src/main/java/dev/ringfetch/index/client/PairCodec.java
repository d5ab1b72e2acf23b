package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/** The codec of keys of two components, see {@link Codec#pair}. Immutable. */
public final class PairCodec<A, B> implements OrderedCodec<Pair<A, B>> {
  private final OrderedCodec<A> first;
  private final OrderedCodec<B> second;

  PairCodec(OrderedCodec<A> first, OrderedCodec<B> second) {
    this.first = first;
    this.second = second;
  }

  @Override
  public ByteString encode(Pair<A, B> key) {
    return prefix(key.first()).concat(second.encode(key.second()));
  }

  @Override
  public Pair<A, B> decode(ByteString bytes) {
    final Components.Cursor cursor = new Components.Cursor(bytes);
    final A component = cursor.next(first);
    return new Pair<>(component, cursor.last(second));
  }

  @Override
  public int fixedLength() {
    final boolean fixed = first.fixedLength() != 0 && second.fixedLength() != 0;
    return fixed ? first.fixedLength() + second.fixedLength() : 0;
  }

  /** All keys with this first component. */
  public Range<Pair<A, B>> startingWith(A component) {
    return Range.ofPrefix("first=" + component, prefix(component));
  }

  private ByteString prefix(A component) {
    final ByteString.Output out = ByteString.newOutput();
    Components.append(out, first, component);
    return out.toByteString();
  }

  @Override
  public String toString() {
    return "(" + first + ", " + second + ")";
  }
}
