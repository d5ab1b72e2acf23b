package dev.ringfetch.protocol;

import java.io.IOException;

/** Bytes that are no message of the handshake. */
public final class MalformedMessageException extends IOException {
  private static final long serialVersionUID = 1;

  MalformedMessageException(String message) {
    super(message);
  }
}
