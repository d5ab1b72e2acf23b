package dev.ringfetch.system;

import io.grpc.Status;
import java.nio.channels.ClosedChannelException;

/** What calls end with when their server is lost. */
public final class LostServer {
  private LostServer() {}

  /**
   * Whether a call may end so: with UNAVAILABLE, or with what gRPC says of a call that it was about
   * to write when the connection broke. Calls go over that while their client has no session.
   */
  public static boolean endsWith(Status status) {
    return status.getCode() == Status.Code.UNAVAILABLE
        || status.getCause() instanceof ClosedChannelException;
  }
}
