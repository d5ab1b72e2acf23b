package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.memory.v1.LockRequest;
import dev.ringfetch.memory.v1.LockResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.net.SocketAddress;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The call of a client that waits for a lock, and then has it until the call ends: by the client's
 * release, by its cancellation, or with its connection.
 */
final class ClientHold implements StreamObserver<LockRequest>, OwnerLock.Waiter {
  private enum State {
    /** Before the client has named a lock. */
    NEW,
    WAITING,
    HELD,
    ENDED
  }

  private final Regions regions;
  private final Set<ClientHold> open;
  private final ServerCallStreamObserver<LockResponse> call;
  private final @Nullable SocketAddress connection = Admissions.connection();

  @GuardedBy("this")
  private State state = State.NEW;

  @GuardedBy("this")
  private OwnerLock lock; // null before it is named

  @GuardedBy("this")
  private LockHold hold; // while HELD

  /**
   * Creates the hold of a call that has begun.
   *
   * @param open contains it until the call ends.
   */
  ClientHold(Regions regions, Set<ClientHold> open, ServerCallStreamObserver<LockResponse> call) {
    this.regions = regions;
    this.open = open;
    this.call = call;
    open.add(this);
    call.setOnCancelHandler(this::end);
  }

  @Override
  public void onNext(LockRequest request) {
    try {
      final OwnerLock named = regions.find(request.getName(), OwnerLock.class);
      synchronized (this) {
        if (state == State.ENDED) {
          return;
        }
        if (state != State.NEW) {
          throw Status.INVALID_ARGUMENT
              .withDescription("a call is for one lock: state=" + state)
              .asRuntimeException();
        }
        state = State.WAITING;
        lock = named;
      }
      named.enter(this, true);
    } catch (StatusRuntimeException e) {
      fail(e);
    }
  }

  /** Ends the call, and with it the hold, with a failure. */
  void fail(StatusRuntimeException status) {
    if (end()) {
      call.onError(status);
    }
  }

  @Override
  public @Nullable SocketAddress connection() {
    return connection;
  }

  @Override
  public void granted(LockHold granted) {
    final boolean waited;
    synchronized (this) {
      waited = state == State.WAITING;
      if (waited) {
        state = State.HELD;
        hold = granted;
      }
    }
    if (!waited) {
      granted.close(); // the client went while it was granted the lock
      return;
    }
    try {
      call.onNext(LockResponse.newBuilder().setFence(granted.fence()).build());
    } catch (RuntimeException e) { // the call has ended: the next one is granted the lock
      end();
    }
  }

  @Override
  public void refused(StatusRuntimeException reason) {
    fail(reason);
  }

  /** The client releases the lock. */
  @Override
  public void onCompleted() {
    if (end()) {
      call.onCompleted();
    }
  }

  @Override
  public void onError(Throwable t) {
    end();
  }

  /** Gives up the lock, or the place in its queue; false if that was done before. */
  private boolean end() {
    final OwnerLock left;
    final LockHold released;
    synchronized (this) {
      if (state == State.ENDED) {
        return false;
      }
      state = State.ENDED;
      left = lock;
      released = hold;
      hold = null;
    }
    open.remove(this);
    if (released != null) {
      released.close();
    } else if (left != null) {
      left.forget(this);
    }
    return true;
  }
}
