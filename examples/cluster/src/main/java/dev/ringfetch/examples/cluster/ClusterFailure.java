package dev.ringfetch.examples.cluster;

/** The failure of a command; the message is for the user. */
public final class ClusterFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ClusterFailure(String message) {
    super(message);
  }

  ClusterFailure(String message, Throwable cause) {
    super(message, cause);
  }
}
