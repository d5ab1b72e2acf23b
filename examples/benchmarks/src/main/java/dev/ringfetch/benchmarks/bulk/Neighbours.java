package dev.ringfetch.benchmarks.bulk;

import com.google.protobuf.BytesValue;
import dev.ringfetch.benchmarks.v1.BulkGrpc;
import dev.ringfetch.benchmarks.v1.BulkGrpc.BulkStub;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.Answer;
import io.grpc.Channel;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Small calls beside an upload on the same channel. */
public final class Neighbours {
  /** Length of the upload's messages, in bytes. */
  public static final int UPLOAD_LENGTH = 1024 * 1024;

  private final BulkStub stub;

  /** Creates them over a channel of any kind. */
  public Neighbours(Channel channel) {
    this.stub = BulkGrpc.newStub(channel);
  }

  /**
   * Small calls for some time: their {@link Figures}, and under {@code gb} what the upload beside
   * them carried in a second.
   *
   * @param direct whether the transport's thread issues the calls; else threads of our own do,
   *     which are also the executors of their calls.
   */
  public Answer run(Company company, boolean direct, long millis) throws Exception {
    if (direct) {
      return run(company, null, null, millis);
    }
    final ExecutorService small = Executors.newSingleThreadExecutor();
    final ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      return run(company, small, company == Company.twoThreads ? other : small, millis);
    } finally {
      small.shutdown();
      other.shutdown();
    }
  }

  private Answer run(Company company, Executor small, Executor bulk, long millis) throws Exception {
    final SmallCalls calls = new SmallCalls(on(small), millis);
    if (company == Company.none) {
      begin(calls, small);
      return calls.awaitEnd().answer().with("gb", 0);
    }
    final BytesValue message = StreamUpload.message(UPLOAD_LENGTH);
    final Sender<BytesValue> sender = new Sender<>(() -> message, UPLOAD_LENGTH, bulk);
    on(bulk).upload(sender);
    sender.awaitBegin();
    begin(calls, small);
    final Figures figures = calls.awaitEnd();
    sender.stop();
    return figures.answer().with("gb", sender.awaitEnd().gigabytesPerSecond());
  }

  private BulkStub on(Executor executor) {
    return executor == null ? stub : stub.withExecutor(executor);
  }

  private static void begin(SmallCalls calls, Executor executor) {
    if (executor == null) {
      calls.begin();
    } else {
      executor.execute(calls::begin);
    }
  }
}
