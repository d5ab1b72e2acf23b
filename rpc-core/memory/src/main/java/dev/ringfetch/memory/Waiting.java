package dev.ringfetch.memory;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.SocketAddress;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** A call or a thread that waits for something of a name. */
interface Waiting {
  /** Of a name at a time. */
  int LIMIT = 1024;

  /** Of a name at a time by one connection: none takes the places of all. */
  int CONNECTION_LIMIT = 128;

  /** The connection that has a share of the places; null if it is not known, or there is none. */
  default @Nullable SocketAddress connection() {
    return null;
  }

  /**
   * Checks that there is room for another one.
   *
   * @param waiting those of the name so far.
   * @throws StatusRuntimeException RESOURCE_EXHAUSTED if there is none.
   */
  static void checkRoom(String name, Collection<? extends Waiting> waiting, Waiting next) {
    if (waiting.size() >= LIMIT) {
      throw full(name, "limit=" + LIMIT);
    }
    final SocketAddress connection = next.connection();
    if (connection != null
        && waiting.stream().filter(other -> connection.equals(other.connection())).count()
            >= CONNECTION_LIMIT) {
      throw full(name, "limit of a connection=" + CONNECTION_LIMIT);
    }
  }

  private static StatusRuntimeException full(String name, String limit) {
    return Status.RESOURCE_EXHAUSTED
        .withDescription("too many wait: name=" + name + " " + limit)
        .asRuntimeException();
  }
}
