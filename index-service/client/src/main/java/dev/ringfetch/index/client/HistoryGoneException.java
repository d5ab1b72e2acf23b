package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import io.grpc.Status;

/**
 * The end of a watch whose next changes the server no longer keeps. The application reads the
 * entries again, and watches from the {@link #oldestToken}, or from now. Its status is
 * OUT_OF_RANGE.
 */
public final class HistoryGoneException extends IndexException {
  private static final long serialVersionUID = 1;

  private final ByteString oldestToken;

  HistoryGoneException(Subject subject, Status status, ByteString oldestToken) {
    super(subject, status, false);
    this.oldestToken = oldestToken;
  }

  /** The oldest token with which a watch could begin when this one ended; empty if unknown. */
  public ByteString oldestToken() {
    return oldestToken;
  }
}
