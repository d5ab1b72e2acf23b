package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The pages of a snapshot scan; the next page arrives while the present one is read. */
final class SnapshotPages implements Pages, SnapshotStream.Receiver {
  private enum State {
    NEW,
    STREAMING,
    ENDED
  }

  private final IndexCalls calls;
  private final Subject subject;
  private final long timeoutNs;
  private final Scan.Options options;
  private final BlockingQueue<Object> events = new LinkedBlockingQueue<>(); // pages, then a Status
  private State state = State.NEW;
  private SnapshotStream stream;

  SnapshotPages(IndexCalls calls, Subject subject, long timeoutNs, Scan.Options options) {
    this.calls = calls;
    this.subject = subject;
    this.timeoutNs = timeoutNs;
    this.options = options;
  }

  @Override
  public ScanResponse next() {
    if (state == State.ENDED) {
      return null;
    }
    final OperationRun run = calls.begin(subject, timeoutNs);
    if (state == State.NEW) {
      stream = SnapshotStream.start(calls, options, this);
      state = State.STREAMING;
    }
    final Object event = await(run);
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

  @Override
  public void onPage(SnapshotStream from, ScanResponse page) {
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
