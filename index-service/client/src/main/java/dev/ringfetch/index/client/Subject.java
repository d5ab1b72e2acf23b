package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * The subject of an operation, for messages and metrics.
 *
 * @param index name of the index.
 * @param key the encoded key; null if the operation has several keys, or none.
 */
record Subject(Operation operation, String index, ByteString key) {
  @Override
  public String toString() {
    final String text = "operation=" + operation.label() + " index=" + index;
    return key == null ? text : text + " key=" + KeyText.of(key);
  }
}
