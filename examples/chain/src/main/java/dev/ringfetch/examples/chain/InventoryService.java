package dev.ringfetch.examples.chain;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.examples.chain.v1.FindReply;
import dev.ringfetch.examples.chain.v1.FindRequest;
import dev.ringfetch.examples.chain.v1.InventoryGrpc;
import dev.ringfetch.examples.chain.v1.StockEntry;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The service that knows the warehouse. A request may ask for a delay: its thread then waits until
 * the delay is over or the call is cancelled, as by its deadline.
 */
final class InventoryService extends InventoryGrpc.InventoryImplBase {
  private static final long NO_DEADLINE = -1;

  private final IndexGrpc.IndexBlockingStub index;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile long deadlineMs = NO_DEADLINE;

  InventoryService(Channel channel) {
    index = IndexGrpc.newBlockingStub(channel);
  }

  /**
   * Adds the commands {@code load}, which writes all articles to the index, and {@code waiting}:
   * how many calls wait now, and which part of its deadline the last of them had left.
   */
  CommandLoop addTo(CommandLoop loop) {
    return loop.on("load", arguments -> load())
        .on(
            "waiting",
            arguments -> new Answer().with("calls", waiting.get()).with("deadlineMs", deadlineMs));
  }

  private Answer load() {
    for (int i = 0; i < Stock.ARTICLES; i++) {
      final var unused =
          index.put(
              PutRequest.newBuilder()
                  .setKey(ByteString.copyFromUtf8(Stock.name(i)))
                  .setValue(Stock.entry(i).toByteString())
                  .build());
    }
    return new Answer().with("entries", Stock.ARTICLES);
  }

  @Override
  public void find(FindRequest request, StreamObserver<FindReply> replies) {
    if (request.getDelayMs() > 0) {
      await(request.getDelayMs());
    }
    final StockEntry entry;
    try {
      entry = read(request.getArticle());
    } catch (StatusRuntimeException e) {
      replies.onError(e);
      return;
    }
    replies.onNext(
        FindReply.newBuilder()
            .setCents(entry.getCents())
            .setAvailable(entry.getAvailable())
            .setSheet(entry.getSheet())
            .build());
    replies.onCompleted();
  }

  private StockEntry read(String article) {
    final GetResponse response =
        index.get(GetRequest.newBuilder().setKey(ByteString.copyFromUtf8(article)).build());
    if (!response.hasEntry()) {
      throw Status.NOT_FOUND
          .withDescription("there is no such article: article=" + article)
          .asRuntimeException();
    }
    try {
      return StockEntry.parseFrom(response.getEntry().getValue());
    } catch (InvalidProtocolBufferException e) {
      throw Status.DATA_LOSS
          .withDescription("the entry is no StockEntry: article=" + article)
          .withCause(e)
          .asRuntimeException();
    }
  }

  private void await(int millis) {
    final CountDownLatch cancelled = new CountDownLatch(1);
    final Context.CancellationListener listener = context -> cancelled.countDown();
    final Context context = Context.current();
    final Deadline deadline = context.getDeadline();
    deadlineMs = deadline == null ? NO_DEADLINE : deadline.timeRemaining(TimeUnit.MILLISECONDS);
    context.addListener(listener, Runnable::run);
    waiting.incrementAndGet();
    try {
      final boolean unused = cancelled.await(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      waiting.decrementAndGet();
      context.removeListener(listener);
    }
  }
}
