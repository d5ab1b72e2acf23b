package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The pages of a {@link PageStream}; the next page arrives while the present one is read. */
final class StreamedPages implements Pages, PageStream.Receiver {
  private enum State {
    NEW,
    STREAMING,
    ENDED
  }

  private final IndexCalls calls;
  private final Subject subject;
  private final long timeoutNs;
  private final Call<?, ScanResponse> call;
  private final long lifetimeNs;
  private final BlockingQueue<Object> events = new LinkedBlockingQueue<>(); // pages, then a Status
  private State state = State.NEW;
  private PageStream stream;

  /**
   * Creates it.
   *
   * @param timeoutNs how long a page may take, in nanoseconds.
   * @param lifetimeNs how long the stream may last, in nanoseconds.
   */
  StreamedPages(
      IndexCalls calls,
      Subject subject,
      long timeoutNs,
      Call<?, ScanResponse> call,
      long lifetimeNs) {
    this.calls = calls;
    this.subject = subject;
    this.timeoutNs = timeoutNs;
    this.call = call;
    this.lifetimeNs = lifetimeNs;
  }

  @Override
  public ScanResponse next() {
    if (state == State.ENDED) {
      return null;
    }
    final OperationRun run = calls.begin(subject, timeoutNs);
    final Object event = state == State.NEW ? first(run) : await(run);
    if (event instanceof ScanResponse page) {
      stream.request();
      run.end(Status.Code.OK);
      return page;
    }
    final Status status = (Status) event;
    close();
    run.end(status.getCode());
    if (!status.isOk()) {
      throw run.failure(status, false);
    }
    return null;
  }

  /** Starts the call, again after the loss of the server, until the first page or the deadline. */
  private Object first(OperationRun run) {
    state = State.STREAMING;
    while (true) {
      stream = PageStream.start(calls, call, lifetimeNs, this);
      final Object event = await(run);
      if (!(event instanceof Status status)
          || !Failures.isLost(status)
          || run.leftNs() <= 0
          || calls.isClosed()) {
        return event;
      }
      calls.pause(run);
    }
  }

  @Override
  public void onPage(PageStream from, ScanResponse page) {
    events.add(page);
  }

  @Override
  public void onEnd(Status status) {
    events.add(status);
  }

  /** Waits for an event, no longer than the deadline of the run. */
  private Object await(OperationRun run) {
    try {
      final Object event = events.poll(run.leftNs(), TimeUnit.NANOSECONDS);
      return event != null
          ? event
          : Status.DEADLINE_EXCEEDED.withDescription(
              "no page came in time: limit=" + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Status.CANCELLED.withDescription("Thread interrupted").withCause(e);
    }
  }

  @Override
  public void close() {
    state = State.ENDED;
    if (stream != null) {
      stream.cancel("the scan was closed");
    }
  }
}
