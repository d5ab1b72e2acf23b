package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.kernel.Kernel;
import dev.ringfetch.index.kernel.KernelReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialConditions;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.RunKernelRequest;
import dev.ringfetch.index.v1.RunKernelResponse;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The call that runs a kernel, and the reader of that kernel. The first run is on the thread of the
 * call, which must not wait: if the kernel reads more than a few entries, or one that only the
 * owner can read, the run ends, and another begins on a thread for kernels, with a limit of time
 * and entries. Used by one thread at a time.
 */
final class KernelCall implements KernelReader {
  /** Entries that a kernel reads on the thread of the call: as many as a chain has. */
  private static final int SHORT_READS = 16;

  /** Time of a kernel on the thread of the call: many times that of so many reads. */
  private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Limit of the entries that a kernel reads. */
  static final int MAX_READS = 1_000_000;

  /** Limit of the time of a kernel, of which there is a thread for every second processor. */
  static final long MAX_NS = TimeUnit.SECONDS.toNanos(1);

  /** Entries that are read ahead: they take a few microseconds. */
  private static final int PAGE = 64;

  /** Length of the longest answer, beside which its message has room for the rest. */
  private static final int MAX_ANSWER_LENGTH = ReadCall.MAX_ANSWER_BYTES - 64;

  /** How often the owner is asked without an entry in between, as by other calls. */
  private static final int MAX_ASKED = 100;

  private final @Nullable ServedIndex index;
  private final Kernel kernel;
  private final RunKernelRequest request;
  private final CallSignals<RunKernelResponse> signals;
  private final Outcomes outcomes;

  private boolean waits; // whether the thread may
  private int readsLeft;
  private long deadlineNs;
  private @Nullable Status stop; // null: the kernel may read on
  private boolean again; // whether the run ends as another one is to begin

  /** Ends a run, whose status is known. */
  private static final class StopException extends RuntimeException {
    private static final long serialVersionUID = 1;

    StopException(Status status) {
      super(status.getDescription(), null, false, false);
    }
  }

  KernelCall(
      @Nullable ServedIndex index,
      Kernel kernel,
      RunKernelRequest request,
      CallSignals<RunKernelResponse> signals,
      Outcomes outcomes) {
    this.index = index;
    this.kernel = kernel;
    this.request = request;
    this.signals = signals;
    this.outcomes = outcomes;
  }

  /** Runs the kernel on the thread of the call; false if it is not short, and nothing was done. */
  boolean isShort() {
    readsLeft = SHORT_READS;
    deadlineNs = System.nanoTime() + SHORT_NS;
    return isAnswered();
  }

  /** Runs the kernel on a thread that may wait. */
  void run() {
    if (signals.isCancelled()) {
      return; // while it waited for its turn
    }
    waits = true;
    again = false;
    stop = null;
    readsLeft = MAX_READS;
    deadlineNs = System.nanoTime() + MAX_NS;
    isAnswered();
  }

  private boolean isAnswered() {
    Status failure = null;
    ByteString answer = null;
    try {
      answer = kernel.run(request.getArgument(), this);
      failure = fault(answer);
    } catch (StatusException e) {
      failure = e.getStatus();
    } catch (StatusRuntimeException e) {
      failure = e.getStatus();
    } catch (Throwable e) { // the client is to learn of it, whatever it is
      failure = failed(e);
    }
    if (stop != null) {
      failure = stop;
    }
    if (again) {
      return false;
    }
    if (signals.isCancelled()) {
      return true;
    }
    if (failure != null) {
      signals.responses().onError(failure.asException());
    } else {
      WriteCall.answer(
          signals.responses(),
          RunKernelResponse.newBuilder()
              .setAnswer(answer)
              .setIncarnation(index == null ? 0 : index.incarnation())
              .build());
    }
    return true;
  }

  /** Why an answer cannot be sent; null if it can. */
  private @Nullable Status fault(@Nullable ByteString answer) {
    if (answer == null) {
      return Status.INTERNAL.withDescription("the kernel has not answered: " + name());
    }
    return answer.size() <= MAX_ANSWER_LENGTH
        ? null
        : Status.RESOURCE_EXHAUSTED.withDescription(
            "the answer of the kernel is too long: "
                + name()
                + " size="
                + answer.size()
                + " limit="
                + MAX_ANSWER_LENGTH
                + " bytes");
  }

  private Status failed(Throwable failure) {
    if (stop == null) {
      System.getLogger(KernelCall.class.getName())
          .log(Level.ERROR, "a kernel has failed: " + name(), failure);
    }
    return Status.INTERNAL.withDescription(
        "the kernel has failed: " + name() + " exception=" + failure.getClass().getName());
  }

  private String name() {
    return "kernel=" + request.getKernel();
  }

  @Override
  public @Nullable Entry get(ByteString key) {
    beforeRead();
    try {
      RequestLimits.checkKey(key);
    } catch (StatusException e) {
      throw stopped(e.getStatus());
    }
    count();
    if (index == null) {
      return null;
    }
    final ServedIndex.LocalReader reader = index.reader();
    return switch (verified(() -> reader.read(key))) {
      case FOUND -> reader.entry(key);
      case ABSENT -> null;
      case CLOSED -> throw stopped(Outcomes.closed(index));
      default -> ask(index.partition(key), key);
    };
  }

  @Override
  public void scan(KeyRange range, Predicate<Entry> each) {
    beforeRead();
    try {
      RangeCalls.checkKind(index, IndexKind.ORDERED, "keys of this index have no order");
      if (index != null) {
        read(new RangeReading(index, Ranges.cursor(range, false), null), each);
      }
    } catch (StatusException e) {
      throw stopped(e.getStatus());
    }
  }

  @Override
  public void search(Box box, Predicate<Entry> each) {
    beforeRead();
    try {
      SpatialCalls.checkSpatial(index);
      if (index != null) {
        read(new BoxReading(index, SpatialConditions.intersecting(box), null), each);
      }
    } catch (StatusException e) {
      throw stopped(e.getStatus());
    }
  }

  /** Gives the kernel entries that were read ahead: it may read others meanwhile. */
  private void read(EntryReading reading, Predicate<Entry> each) {
    final Page page = new Page(false, PAGE, 0);
    int asked = 0;
    while (true) {
      beforeRead();
      final ReadResult result = verified(() -> reading.read(reading.index().reader(), page));
      if (result == ReadResult.CLOSED) {
        throw stopped(Outcomes.closed(reading.index()));
      }
      asked = page.isEmpty() ? asked : 0;
      for (final Entry entry : page.finish(reading.index(), ByteString.EMPTY).getEntriesList()) {
        count();
        if (!each.test(entry)) {
          return;
        }
      }
      if (result == ReadResult.ABSENT) {
        return;
      }
      if (result != ReadResult.FOUND) {
        if (++asked > MAX_ASKED) {
          throw stopped(
              Status.UNAVAILABLE.withDescription("the index kept changing while it was read"));
        }
        ask(reading.doubtful(asked), reading.doubtfulKey(asked));
      }
    }
  }

  /** The result of a read of memory that another process may have taken away. */
  private static ReadResult verified(Supplier<ReadResult> read) {
    try {
      return read.get();
    } catch (InternalError e) { // late, see MemoryRegion.verify(): the owner finds it, too
      return ReadResult.LOST;
    }
  }

  /** Lets the owner read a key, and waits for it. */
  private @Nullable Entry ask(Partition owner, ByteString key) {
    if (!waits) {
      throw again();
    }
    final CompletableFuture<Write> answer = new CompletableFuture<>();
    final int refused = owner.submit(new Write(answer::complete).read(key));
    if (refused != 0) {
      throw stopped(outcomes.status(index, refused));
    }
    final Write read;
    try {
      read = answer.get(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw stopped(tookTooLong());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw stopped(Status.UNAVAILABLE.withDescription("the server ends"));
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // nothing completes it so
    }
    if (read.outcome() != Write.DONE) {
      throw stopped(outcomes.status(index, read));
    }
    return read.entry();
  }

  /** Ends the run if it may read no more. */
  private void beforeRead() {
    if (stop != null) {
      throw stopped(stop);
    }
    if (signals.isCancelled()) {
      throw stopped(Status.CANCELLED);
    }
    if (System.nanoTime() - deadlineNs > 0) {
      throw waits ? stopped(tookTooLong()) : again();
    }
  }

  /** Counts an entry that is read. */
  private void count() {
    if (readsLeft-- == 0) {
      throw waits
          ? stopped(
              Status.RESOURCE_EXHAUSTED.withDescription(
                  "the kernel reads too many entries: " + name() + " limit=" + MAX_READS))
          : again();
    }
  }

  private Status tookTooLong() {
    return Status.RESOURCE_EXHAUSTED.withDescription(
        "the kernel takes too long: "
            + name()
            + " limit="
            + TimeUnit.NANOSECONDS.toMillis(MAX_NS)
            + " ms");
  }

  /** Ends a run on the thread of the call. */
  private StopException again() {
    again = true;
    return stopped(Status.ABORTED.withDescription("the kernel runs again"));
  }

  private StopException stopped(Status status) {
    stop = status;
    return new StopException(status);
  }
}
