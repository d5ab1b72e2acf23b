package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CloseClientRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The numbers under which a client's writes to an index go: opens one at the server at the first
 * write, another one where the server does not know it any more, or too many writes are under way,
 * and renews its lease when half of that may be over. Safe for use by many threads; has no thread
 * of its own.
 *
 * <p>One operation opens; the others wait for it, each until its own deadline, and open themselves
 * if it has failed.
 */
final class ClientNumbers {
  private final String index;
  private ClientWindow current; // guarded by this; null: none is open
  private CompletableFuture<Void> opening; // guarded by this; null: nobody opens

  /** Whether the server was found to be an older one, which gives no numbers. */
  private volatile boolean unsupported;

  /** Creates the numbers of the writes to an index. */
  ClientNumbers(String index) {
    this.index = index;
  }

  /** What an operation that finds no number has to do. */
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

    /** Whether the operation makes the {@link #call}, and tells its end. Else it waits. */
    boolean isOwn() {
      return isOwn;
    }

    /** Is completed when the operation is to look again. */
    CompletableFuture<Void> ended() {
      return ended;
    }

    /** The call that opens. */
    Call<OpenClientRequest, OpenClientResponse> call() {
      return Call.reading(
          IndexGrpc.getOpenClientMethod(),
          OpenClientRequest.newBuilder().setClient(client).setIndex(index).build());
    }
  }

  /** Whether writes go without numbers. */
  boolean isUnsupported() {
    return unsupported;
  }

  /** Notes that the server is not there: the next one may be a newer one. */
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

  /** Notes that the call of an opening has failed; returns whether writes go without numbers. */
  boolean failed(Opening own, Status.Code code) {
    unsupported = code == Status.Code.UNIMPLEMENTED;
    synchronized (this) {
      opening = null;
    }
    own.ended.complete(null);
    return unsupported;
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
