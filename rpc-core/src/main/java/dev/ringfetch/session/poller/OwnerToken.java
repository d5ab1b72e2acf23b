package dev.ringfetch.session.poller;

import dev.ringfetch.session.owner.SharedField;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The token that makes one thread at a time the owner of a session's state.
 *
 * <p>No thread waits for it. A thread that has work for the session enqueues the work and tries to
 * take the token; if another thread holds it, that one looks at the queue again after it has
 * released the token, so the work is not forgotten (flat combining).
 */
public final class OwnerToken {
  private static final Thread NOBODY = null;
  private static final VarHandle OWNER =
      SharedField.of(MethodHandles.lookup(), "owner", Thread.class);

  @SuppressWarnings("unused") // through OWNER
  private volatile Thread owner;

  /** Takes the token if it is free. Everything that former owners did is visible then. */
  public boolean tryAcquire() {
    return (Thread) OWNER.getVolatile(this) == NOBODY
        && OWNER.compareAndSet(this, NOBODY, Thread.currentThread());
  }

  /** True when the calling thread holds the token. */
  public boolean isMine() {
    return (Thread) OWNER.getVolatile(this) == Thread.currentThread();
  }

  /** True when no thread holds the token. */
  boolean isFree() {
    return (Thread) OWNER.getVolatile(this) == NOBODY;
  }

  /** The thread that holds the token. */
  @Nullable Thread holder() {
    return (Thread) OWNER.getVolatile(this);
  }

  /**
   * Releases the token. The caller looks at the queue afterwards, and that look must not come
   * before this store: a volatile one, as the enqueuer's attempt comes after its enqueueing.
   */
  public void release() {
    OWNER.setVolatile(this, NOBODY);
  }
}
