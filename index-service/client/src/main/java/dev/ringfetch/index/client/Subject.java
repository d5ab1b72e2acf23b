package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * What an operation is about.
 *
 * @param index name of the index.
 * @param key the encoded key; null where the operation is about several, or none.
 */
record Subject(Operation operation, String index, ByteString key) {
  @Override
  public String toString() {
    final String text = "operation=" + operation.label() + " index=" + index;
    return key == null ? text : text + " key=" + KeyText.of(key);
  }
}
