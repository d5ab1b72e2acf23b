package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of an operation at a limit of the server, which the text names: memory is full, or
 * too many keys collide. Another try fails too, until there is room. Reads and removals go on. Its
 * status is RESOURCE_EXHAUSTED.
 */
public final class FullException extends IndexException {
  private static final long serialVersionUID = 1;

  FullException(Subject subject, Status status, boolean outcomeUnknown) {
    super(subject, status, outcomeUnknown);
  }
}
