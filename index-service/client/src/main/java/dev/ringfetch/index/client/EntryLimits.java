package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import dev.ringfetch.index.layout.BlockDescriptor;
import io.grpc.Status;

/**
 * The limits of keys, values and requests that every server has, checked before anything is sent,
 * so that the error names them: a transport refuses a request far beyond them with an error about
 * its own limit.
 */
final class EntryLimits {
  /** The default limit of a message to a server; no request of entries is longer. */
  private static final int MAX_REQUEST_LENGTH = 4 << 20;

  private EntryLimits() {}

  /** INVALID_ARGUMENT if the key is empty or too long; null if it is legal. */
  static Status ofKey(ByteString key) {
    if (key.isEmpty()) {
      return Status.INVALID_ARGUMENT.withDescription("key is empty");
    }
    return of("key", key.size(), BlockDescriptor.MAX_KEY_LENGTH);
  }

  /** INVALID_ARGUMENT if the value is too long; null if it is legal. */
  static Status ofValue(ByteString value) {
    return of("value", value.size(), BlockDescriptor.MAX_VALUE_LENGTH);
  }

  /** INVALID_ARGUMENT if the request is longer than a server takes; null if it is legal. */
  static Status ofRequest(Object request) {
    return request instanceof MessageLite message // which keeps its size, for the transport
        ? of("request", message.getSerializedSize(), MAX_REQUEST_LENGTH)
        : null;
  }

  private static Status of(String what, int size, int limit) {
    return size <= limit
        ? null
        : Status.INVALID_ARGUMENT.withDescription(
            what + " is too long: size=" + size + " limit=" + limit + " bytes");
  }
}
