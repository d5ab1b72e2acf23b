package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * The failure of a commit of offsets by a reader whose generation is not the present one of its
 * group: the group has other members since, and the partitions may be another reader's. Nothing was
 * committed. Its status is FAILED_PRECONDITION.
 */
public final class FencedException extends IndexException {
  private static final long serialVersionUID = 1;

  private final long generation;

  FencedException(Subject subject, long wanted, long generation) {
    super(
        subject,
        Status.FAILED_PRECONDITION.withDescription(
            "the group has another generation: generation=" + wanted + " present=" + generation),
        false);
    this.generation = generation;
  }

  /** The present generation of the group. */
  public long generation() {
    return generation;
  }
}
