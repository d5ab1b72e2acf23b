package dev.ringfetch.index.client;

/**
 * A codec that keeps an order: of two objects, the smaller one has the smaller bytes, which are
 * compared as unsigned. Keys of an {@link OrderedIndex} come in that order.
 *
 * @param <T> the type.
 */
public interface OrderedCodec<T> extends Codec<T> {
  /**
   * Length in bytes of all encoded objects if it is the same for all; 0 otherwise. Components of a
   * fixed length need no terminator in a composite key.
   */
  default int fixedLength() {
    return 0;
  }
}
