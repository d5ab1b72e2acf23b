package dev.ringfetch.index.rights;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.grpc.ServerCall;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The listener of a call that waits for the check of its password: keeps events, and passes them on
 * in their order. No message comes meanwhile, as none is requested.
 */
final class DelayedListener<Q> extends ServerCall.Listener<Q> {
  @GuardedBy("this")
  private final List<Consumer<ServerCall.Listener<Q>>> kept = new ArrayList<>();

  private volatile ServerCall.@Nullable Listener<Q> listener; // null: the call waits

  /** Begins the call, whose listener gets what has come and all that comes. */
  void become(Supplier<ServerCall.Listener<Q>> begin) {
    synchronized (this) { // events of other threads wait: the listener hears one at a time
      final ServerCall.Listener<Q> begun = begin.get();
      for (int i = 0; i < kept.size(); i++) { // an event may bring another one on this thread
        kept.get(i).accept(begun);
      }
      kept.clear();
      listener = begun;
    }
  }

  private void pass(Consumer<ServerCall.Listener<Q>> event) {
    ServerCall.Listener<Q> begun = listener;
    if (begun == null) {
      synchronized (this) {
        begun = listener;
        if (begun == null) {
          kept.add(event);
          return;
        }
      }
    }
    event.accept(begun);
  }

  @Override
  public void onMessage(Q message) {
    pass(begun -> begun.onMessage(message));
  }

  @Override
  public void onHalfClose() {
    pass(ServerCall.Listener::onHalfClose);
  }

  @Override
  public void onCancel() {
    pass(ServerCall.Listener::onCancel);
  }

  @Override
  public void onComplete() {
    pass(ServerCall.Listener::onComplete);
  }

  @Override
  public void onReady() {
    pass(ServerCall.Listener::onReady);
  }
}
