package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The delivery of a scan to a consumer, page after page, without a thread that waits. Used by one
 * thread at a time.
 */
final class ScanDelivery<T> implements PageStream.Receiver {
  private final Consumer<? super T> consumer;
  private final Function<Entry, T> decoder;
  private final CallFuture<Long> future;
  private long delivered;

  ScanDelivery(Consumer<? super T> consumer, Function<Entry, T> decoder, CallFuture<Long> future) {
    this.consumer = consumer;
    this.decoder = decoder;
    this.future = future;
  }

  /** Fetches each page by a call. */
  void call(IndexCalls calls, PageCalls pages) {
    final Call<ScanRequest, ScanResponse> next = pages.next();
    if (next == null) {
      future.succeed(delivered);
      return;
    }
    future.run().extend();
    calls.send(
        future,
        next,
        page -> {
          pages.answered(page);
          deliver(page);
          call(calls, pages);
        });
  }

  /** Fetches the pages of a snapshot or a search as a stream. */
  void stream(IndexCalls calls, Call<?, ScanResponse> paged, long lifetimeNs) {
    future.follow(PageStream.start(calls, paged, lifetimeNs, this).call());
  }

  @Override
  public void onPage(PageStream stream, ScanResponse page) {
    IndexCalls.callBack(future, () -> deliver(page));
    if (future.isAbandoned()) {
      stream.cancel("the scan has ended: the consumer has failed, or the future is done");
    } else {
      stream.request();
    }
  }

  @Override
  public void onEnd(Status status) {
    IndexCalls.callBack(
        future,
        () -> {
          if (status.isOk()) {
            future.succeed(delivered);
          } else {
            future.fail(future.run().failure(status, false));
          }
        });
  }

  private void deliver(ScanResponse page) {
    for (final Entry entry : page.getEntriesList()) {
      if (future.isDone()) {
        return; // cancelled
      }
      consumer.accept(decoder.apply(entry));
      delivered++;
    }
  }
}
