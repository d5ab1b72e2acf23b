package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The source of the numbers of a client's writes to one index. Opens a client at the server at the
 * first write, and another one if the server has forgotten it, or if too many writes are under way.
 * Renews the client's lease once half of it may be over. Safe for use by many threads; has no
 * thread of its own.
 *
 * <p>One operation opens the client; the others wait for it, each until its own deadline, and open
 * one themselves if it has failed.
 */
final class ClientNumbers {
  private final String index;
  private ClientWindow current; // guarded by this; null: none is open
  private CompletableFuture<Void> opening; // guarded by this; null: nobody opens

  /** True once the server has turned out to be an older one, which gives no numbers. */
  private volatile boolean unsupported;

  /** Creates the numbers of the writes to an index. */
  ClientNumbers(String index) {
    this.index = index;
  }

  /** The opening of a client: one operation makes the call, the others wait for its end. */
  static final class Opening {
    private final String index;
    private final boolean isOwn;
    private final CompletableFuture<Void> ended;
    private final long client;
    private final long beginNs = System.nanoTime();

    private Opening(String index, boolean isOwn, CompletableFuture<Void> ended, long client) {
      this.index = index;
      this.isOwn = isOwn;
      this.ended = ended;
      this.client = client;
    }

    /** True if the operation makes the {@link #call} and reports its end; false if it waits. */
    boolean isOwn() {
      return isOwn;
    }

    /** The future that completes when the operation shall look for numbers again. */
    CompletableFuture<Void> ended() {
      return ended;
    }

    /** The call that opens; it ends NOT_FOUND, and creates nothing, where there is no index. */
    Call<OpenClientRequest, OpenClientResponse> call() {
      return Call.reading(
          IndexGrpc.getOpenClientMethod(),
          OpenClientRequest.newBuilder()
              .setClient(client)
              .setIndex(index)
              .setExisting(true)
              .build());
    }
  }

  /** Whether writes go without numbers. */
  boolean isUnsupported() {
    return unsupported;
  }

  /** Notes that the server was lost: its successor may be of a newer version. */
  void lost() {
    unsupported = false;
  }

  /** Takes numbers; null if a client is to be opened first. */
  synchronized ClientWindow.Numbers take(int count) {
    if (current == null || current.isStale(System.nanoTime())) {
      return null;
    }
    final ClientWindow.Numbers taken = current.take(count);
    if (taken == null) {
      current = null; // it ends with its lease: writes under way need it
    }
    return taken;
  }

  /** Begins to open a client, or to wait for the operation that does. */
  synchronized Opening open() {
    final boolean isOwn = opening == null;
    if (isOwn) {
      opening = new CompletableFuture<>();
    }
    return new Opening(index, isOwn, opening, current == null ? 0 : current.client());
  }

  /** Notes that the server has answered the call of an opening. */
  void opened(Opening own, OpenClientResponse response) {
    synchronized (this) {
      if (current != null && current.client() == response.getClient()) {
        current.renewed(own.beginNs);
      } else {
        final long leaseNs =
            TimeUnit.MILLISECONDS.toNanos(Integer.toUnsignedLong(response.getLeaseMs()));
        current = new ClientWindow(response.getClient(), leaseNs, own.beginNs);
      }
      opening = null;
    }
    own.ended.complete(null);
  }

  /** Notes that the call of an opening has failed. */
  void failed(Opening own, Status.Code code) {
    unsupported = code == Status.Code.UNIMPLEMENTED;
    synchronized (this) {
      opening = null;
    }
    own.ended.complete(null);
  }

  /** Forgets a client that the server does not know any more. */
  synchronized void forget(ClientWindow unknown) {
    if (current == unknown) {
      current = null;
    }
  }

  /** The call that gives the number back at the end; null if there is none, or it is in use. */
  synchronized CloseClientRequest closing() {
    final ClientWindow last = current;
    current = null;
    return last == null || !last.isIdle()
        ? null
        : CloseClientRequest.newBuilder().setClient(last.client()).setIndex(index).build();
  }
}
