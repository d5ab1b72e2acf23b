package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.memory.v1.LockRequest;
import dev.ringfetch.memory.v1.LockResponse;
import dev.ringfetch.memory.v1.SharedMemoryGrpc;
import dev.ringfetch.rpc.Experimental;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A lock of an owner, which a client has for as long as a call lasts. If the client's process or
 * connection ends, the owner gives the lock to the next waiter. Locks end with their owner; those
 * that have to outlive a server are the index's.
 *
 * <p>Immutable; safe for use by many threads. Not reentrant: each hold is one of its own.
 */
@Experimental
public final class RemoteLock {
  private final Memory memory;
  private final String name;

  RemoteLock(Memory memory, String name) {
    this.memory = memory;
    this.name = name;
  }

  /**
   * Acquires the lock, and waits for it.
   *
   * @return empty if others held it all the time, or the thread was interrupted, which it still is.
   * @throws StatusRuntimeException if the owner refuses, or is not reached.
   */
  public Optional<LockHold> acquire(Duration timeout) {
    final Hold hold = new Hold();
    return hold.await(System.nanoTime() + timeout.toNanos()) ? Optional.of(hold) : Optional.empty();
  }

  /** The call that holds the lock. */
  private final class Hold implements LockHold, ClientResponseObserver<LockRequest, LockResponse> {
    private enum State {
      WAITING,
      HELD,
      ENDED
    }

    private ClientCallStreamObserver<LockRequest> call;

    @GuardedBy("this")
    private State state = State.WAITING;

    @GuardedBy("this")
    private long fence;

    @GuardedBy("this")
    private StatusRuntimeException failure; // null if none

    Hold() {
      // Callbacks only set fields and wake the thread that waits: no executor is needed.
      SharedMemoryGrpc.newStub(memory.channel()).withExecutor(Runnable::run).lock(this);
      call.onNext(LockRequest.newBuilder().setName(name).build());
    }

    /** Waits for the lock, and gives up at that time. */
    boolean await(long endNs) {
      synchronized (this) {
        long leftNs;
        while (state == State.WAITING && (leftNs = endNs - System.nanoTime()) > 0) {
          try {
            TimeUnit.NANOSECONDS.timedWait(this, leftNs);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            break;
          }
        }
        if (failure != null) {
          throw failure;
        }
        if (state == State.HELD) {
          return true;
        }
        state = State.ENDED;
      }
      call.cancel("not granted in time", null); // may take locks of gRPC
      return false;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<LockRequest> started) {
      call = started;
    }

    @Override
    public synchronized void onNext(LockResponse response) {
      if (state == State.WAITING) {
        state = State.HELD;
        fence = response.getFence();
        notifyAll();
      }
    }

    @Override
    public void onError(Throwable t) {
      ended(Status.fromThrowable(t));
    }

    @Override
    public void onCompleted() {
      ended(Status.UNAVAILABLE.withDescription("the owner has ended the lock: name=" + name));
    }

    private synchronized void ended(Status status) {
      if (state == State.WAITING) {
        failure = status.asRuntimeException();
      }
      state = State.ENDED;
      notifyAll();
    }

    @Override
    public synchronized long fence() {
      return fence;
    }

    @Override
    public synchronized boolean isHeld() {
      return state == State.HELD;
    }

    @Override
    public void close() {
      synchronized (this) {
        if (state != State.HELD) {
          return;
        }
        state = State.ENDED;
      }
      call.onCompleted(); // the owner gives the lock to the next one
    }
  }
}
