package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/** The codec of keys of three components, see {@link Codec#triple}. Immutable. */
public final class TripleCodec<A, B, C> implements OrderedCodec<Triple<A, B, C>> {
  private final OrderedCodec<A> first;
  private final OrderedCodec<B> second;
  private final OrderedCodec<C> third;

  TripleCodec(OrderedCodec<A> first, OrderedCodec<B> second, OrderedCodec<C> third) {
    this.first = first;
    this.second = second;
    this.third = third;
  }

  @Override
  public ByteString encode(Triple<A, B, C> key) {
    return prefix(key.first(), key.second()).concat(third.encode(key.third()));
  }

  @Override
  public Triple<A, B, C> decode(ByteString bytes) {
    final Components.Cursor cursor = new Components.Cursor(bytes);
    final A a = cursor.next(first);
    final B b = cursor.next(second);
    return new Triple<>(a, b, cursor.last(third));
  }

  @Override
  public int fixedLength() {
    final boolean fixed =
        first.fixedLength() != 0 && second.fixedLength() != 0 && third.fixedLength() != 0;
    return fixed ? first.fixedLength() + second.fixedLength() + third.fixedLength() : 0;
  }

  /** All keys with this first component. */
  public Range<Triple<A, B, C>> startingWith(A component) {
    final ByteString.Output out = ByteString.newOutput();
    Components.append(out, first, component);
    return Range.ofPrefix("first=" + component, out.toByteString());
  }

  /** All keys with these first two components. */
  public Range<Triple<A, B, C>> startingWith(A component, B next) {
    return Range.ofPrefix("first=" + component + " second=" + next, prefix(component, next));
  }

  private ByteString prefix(A component, B next) {
    final ByteString.Output out = ByteString.newOutput();
    Components.append(out, first, component);
    Components.append(out, second, next);
    return out.toByteString();
  }

  @Override
  public String toString() {
    return "(" + first + ", " + second + ", " + third + ")";
  }
}
