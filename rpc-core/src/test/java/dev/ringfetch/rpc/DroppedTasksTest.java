package dev.ringfetch.rpc;

import io.grpc.CallOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Executors of servers that drop tasks without a word. */
final class DroppedTasksTest extends RingFixture {
  private static final int BURSTS = 3;
  private static final int BURST = 90; // more than a session hands over
  private static final int STREAMS = 100;

  private final ExecutorService executor =
      new ThreadPoolExecutor(
          0,
          1,
          60,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          new ThreadPoolExecutor.DiscardPolicy());

  @AfterEach
  void stop() {
    executor.shutdownNow();
  }

  /** The calls of the burst may end as they like; later ones are served. */
  @Test
  void burstsHurtTheirOwnCallsOnly() throws Exception {
    serve(Served.digesting(), builder -> builder.executor(executor).maxStreams(STREAMS));
    final RingChannel channel = connect(builder().requireFabric());
    for (int b = 0; b < BURSTS; b++) {
      final List<Exchange> calls = new ArrayList<>();
      for (int i = 0; i < BURST; i++) {
        calls.add(
            new Exchange(
                    channel,
                    Bytes.METHOD,
                    CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS))
                .send(new byte[1]));
      }
      for (final Exchange call : calls) {
        call.await();
      }
    }
    for (int i = 0; i < 20; i++) {
      await(
          "a later call",
          () -> {
            try {
              return new Exchange(
                      channel,
                      Bytes.METHOD,
                      CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.SECONDS))
                  .send(new byte[1])
                  .await()
                  .isOk();
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          });
    }
  }
}
