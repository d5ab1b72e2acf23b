package dev.ringfetch.index.peers;

import dev.ringfetch.index.v1.LeaderMessage;
import dev.ringfetch.index.v1.ReplicationGrpc;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of leaders' streams. In a server that takes their executor from here, the network's
 * thread carries out heartbeats itself, so that each wakes one thread instead of three. It hands
 * all other messages to another thread, as it has other connections to serve. In a server with
 * another executor, a stream's messages stay there.
 *
 * <p>Safe for use by many threads.
 */
final class StreamThreads implements ServerInterceptor {
  private static final int IDLE_SECONDS = 10;

  /** Whether this thread is the network's, and carries out a task of a leader's stream. */
  private static final ThreadLocal<Boolean> NETWORK = ThreadLocal.withInitial(() -> false);

  private final Executor others =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          IDLE_SECONDS,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            final Thread created = new Thread(task, "index-replication");
            created.setDaemon(true);
            return created;
          });

  /** The executor of a call: null for that of the server, unless the call is a leader's stream. */
  static <RequestT, ResponseT> @Nullable Executor executor(
      ServerCall<RequestT, ResponseT> call, Metadata headers) {
    final String method = call.getMethodDescriptor().getFullMethodName();
    return method.equals(ReplicationGrpc.getReplicateMethod().getFullMethodName())
        ? StreamThreads::runOnNetwork
        : null;
  }

  private static void runOnNetwork(Runnable task) {
    NETWORK.set(true);
    try {
      task.run();
    } finally {
      NETWORK.set(false);
    }
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    return new Ordered<>(next.startCall(call, headers));
  }

  /**
   * The events of one stream, each of which is carried out after those before it. No message comes
   * before the one before it has been carried out: then the stub asks for the next.
   */
  private final class Ordered<RequestT> extends SimpleForwardingServerCallListener<RequestT> {
    private final Queue<Runnable> handedOn = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger(); // of those, until they have ended

    Ordered(ServerCall.Listener<RequestT> listener) {
      super(listener);
    }

    @Override
    public void onMessage(RequestT message) {
      final boolean isHeartbeat =
          message instanceof LeaderMessage ofLeader && ofLeader.hasHeartbeat();
      run(() -> super.onMessage(message), isHeartbeat);
    }

    @Override
    public void onHalfClose() {
      run(super::onHalfClose, false);
    }

    @Override
    public void onCancel() {
      run(super::onCancel, false);
    }

    @Override
    public void onComplete() {
      run(super::onComplete, false);
    }

    private void run(Runnable event, boolean isShort) {
      if (isShort || !NETWORK.get()) {
        event.run();
        return;
      }
      handedOn.add(event);
      if (count.getAndIncrement() == 0) {
        others.execute(this::runNext);
      }
    }

    private void runNext() {
      try {
        handedOn.remove().run();
      } finally {
        if (count.decrementAndGet() > 0) {
          others.execute(this::runNext);
        }
      }
    }
  }
}
