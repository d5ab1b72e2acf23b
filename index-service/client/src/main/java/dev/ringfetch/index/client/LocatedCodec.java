package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;

/** The codec of the values of a spatial index: a box, then the value. Immutable. */
final class LocatedCodec<V> implements Codec<Located<V>> {
  private final Codec<V> values;

  LocatedCodec(Codec<V> values) {
    this.values = values;
  }

  @Override
  public ByteString encode(Located<V> located) {
    final Box box = located.box();
    return BoxDescriptor.bytes(box.minX(), box.minY(), box.maxX(), box.maxY())
        .concat(values.encode(located.value()));
  }

  @Override
  public Located<V> decode(ByteString bytes) {
    if (!BoxDescriptor.isLegal(bytes)) {
      throw new IllegalArgumentException("begins with no box: length=" + bytes.size());
    }
    final byte[] box = bytes.substring(0, BoxDescriptor.LENGTH).toByteArray();
    return new Located<>(
        new Box(
            BoxDescriptor.bound(box, 0, 0),
            BoxDescriptor.bound(box, 0, 1),
            BoxDescriptor.bound(box, 0, 2),
            BoxDescriptor.bound(box, 0, 3)),
        values.decode(bytes.substring(BoxDescriptor.LENGTH)));
  }

  @Override
  public String toString() {
    return "a box and " + values;
  }
}
