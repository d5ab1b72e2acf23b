package dev.ringfetch.index.call;

import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.v1.RunKernelRequest;
import dev.ringfetch.index.v1.RunKernelResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The calls of an Index service that run kernels: finds the kernel, and bounds how many calls wait
 * for a thread.
 *
 * <p>Safe for use by many threads.
 */
public final class KernelCalls {
  /** Limit of the calls that wait for a thread or have one; each may take a second. */
  static final int MAX_WAITING = 64;

  private final Map<String, Kernel> kernels;
  private final Outcomes outcomes;
  private final Executor executor;
  private final AtomicInteger waiting = new AtomicInteger();

  /**
   * Creates the calls.
   *
   * @param kernels by their names
   * @param executor runs the kernels that read many entries
   */
  public KernelCalls(Map<String, Kernel> kernels, Outcomes outcomes, Executor executor) {
    this.kernels = kernels;
    this.outcomes = outcomes;
    this.executor = executor;
  }

  /** Runs a kernel; the index is null if there is none. */
  public void run(
      @Nullable ServedIndex index, RunKernelRequest request, CallSignals<RunKernelResponse> signals)
      throws StatusException {
    RequestLimits.checkArgument(request.getArgument());
    final Kernel kernel = kernels.get(request.getKernel());
    if (kernel == null) {
      throw Status.NOT_FOUND
          .withDescription(
              "the server has no such kernel: kernel="
                  + request.getKernel()
                  + "; it has "
                  + kernels.keySet())
          .asException();
    }
    final KernelCall call = new KernelCall(index, kernel, request, signals, outcomes);
    final boolean mayRunHere = index == null || !index.needsBarrier(); // else others wait, too
    if (mayRunHere && call.isShort()) {
      return;
    }
    if (waiting.incrementAndGet() > MAX_WAITING) {
      waiting.decrementAndGet();
      throw Outcomes.overloaded("too many kernels are under way: limit=" + MAX_WAITING)
          .asException();
    }
    try {
      executor.execute(
          () -> {
            try {
              call.run();
            } finally {
              waiting.decrementAndGet();
            }
          });
    } catch (RejectedExecutionException | OutOfMemoryError e) { // the server ends, or has no thread
      waiting.decrementAndGet();
      throw Status.UNAVAILABLE
          .withDescription("the server has no thread for a kernel")
          .withCause(e)
          .asException();
    }
  }
}
