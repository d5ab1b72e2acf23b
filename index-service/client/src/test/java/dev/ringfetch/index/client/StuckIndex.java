package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CompareAndSetResponse;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** An index that answers no call, fails some, and lets no comparison hold. */
final class StuckIndex extends TreeIndex {
  final Semaphore received = new Semaphore(0);
  final Semaphore cancelled = new Semaphore(0);
  final AtomicInteger gets = new AtomicInteger();
  final AtomicInteger puts = new AtomicInteger();

  /** Calls that end UNAVAILABLE before others are not answered. */
  volatile int failures;

  /** Whether reads are answered after those that fail. */
  volatile boolean answering;

  private void stick(StreamObserver<?> responses) {
    ((ServerCallStreamObserver<?>) responses).setOnCancelHandler(cancelled::release);
    received.release();
  }

  @Override
  public void get(GetRequest request, StreamObserver<GetResponse> responses) {
    if (gets.incrementAndGet() <= failures) {
      fail(responses, Status.UNAVAILABLE.withDescription("on purpose"));
    } else if (answering) {
      super.get(request, responses);
    } else {
      stick(responses);
    }
  }

  @Override
  public void put(PutRequest request, StreamObserver<PutResponse> responses) {
    if (puts.incrementAndGet() <= failures) {
      fail(responses, Status.UNAVAILABLE.withDescription("on purpose"));
    } else {
      stick(responses);
    }
  }

  @Override
  public void scan(ScanRequest request, StreamObserver<ScanResponse> responses) {
    stick(responses);
  }

  @Override
  public synchronized void compareAndSet(
      CompareAndSetRequest request, StreamObserver<CompareAndSetResponse> responses) {
    answer(
        responses,
        CompareAndSetResponse.newBuilder()
            .setEntry(Entry.newBuilder().setKey(request.getKey()).setVersion(7))
            .setIncarnation(INCARNATION)
            .build());
  }
}
