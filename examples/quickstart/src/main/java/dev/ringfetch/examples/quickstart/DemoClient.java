package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexGrpc.IndexBlockingStub;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The client of the index demo: a channel, its stub, and readers of both indexes. */
final class DemoClient implements AutoCloseable {
  /** The index that is read by names of classes. */
  static final String INDEX = "classes";

  /** The index with the same entries in the order of their keys, for packages. */
  static final String ORDERED = "classes-in-order";

  private static final int BATCH = 256;
  private static final int DEADLINE_SECONDS = 60;
  private static final int END_SECONDS = 10;

  private final Rings rings;
  private final RingChannel channel;

  /** Creates a channel; the first call connects. */
  DemoClient(String target, Rings rings) {
    this.rings = rings;
    final RingChannelBuilder builder = RingChannelBuilder.forTarget(target).usePlaintext();
    rings.apply(builder);
    channel = builder.directExecutor().build();
  }

  /** How a key is looked up; null where it is absent. */
  @FunctionalInterface
  interface Reader {
    ByteString read(ByteString key);
  }

  /** Opens a direct reader, for one thread. */
  DirectReader openReader(String index) {
    final DirectContext context = new DirectContext();
    rings.apply(context::shmDirectory);
    return DirectReader.open(channel, index, context);
  }

  /** Looks up by calls. */
  ByteString call(ByteString key) {
    final GetResponse response =
        stub().get(GetRequest.newBuilder().setIndex(INDEX).setKey(key).build());
    return response.hasEntry() ? response.getEntry().getValue() : null;
  }

  /** Reads a page of a scan. */
  ScanResponse scanPage(ScanRequest request) {
    return stub().scanPage(request);
  }

  /** Creates both indexes and writes the classes; returns how many entries were new. */
  long load(List<ClassImage.Location> classes, String suffix) {
    return load(INDEX, IndexKind.HASH, classes, suffix)
        + load(ORDERED, IndexKind.ORDERED, classes, suffix);
  }

  /** Creates an index and writes the classes, in batches; returns how many were new to it. */
  private long load(
      String index, IndexKind kind, List<ClassImage.Location> classes, String suffix) {
    final var unused =
        IndexAdminGrpc.newBlockingStub(channel)
            .withWaitForReady() // for the successor of a killed server
            .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
            .createIndex(CreateIndexRequest.newBuilder().setIndex(index).setKind(kind).build());
    long created = 0;
    for (int begin = 0; begin < classes.size(); begin += BATCH) {
      final BatchPutRequest.Builder request = BatchPutRequest.newBuilder().setIndex(index);
      for (final ClassImage.Location location :
          classes.subList(begin, Math.min(begin + BATCH, classes.size()))) {
        request.addEntries(
            PutEntry.newBuilder().setKey(location.key()).setValue(value(location, suffix)));
      }
      final BatchPutResponse response = stub().batchPut(request.build());
      for (final PutOutcome outcome : response.getOutcomesList()) {
        if (outcome.getCode() != 0) {
          throw new IllegalStateException("not written: " + outcome);
        }
        created += outcome.getCreated() ? 1 : 0;
      }
    }
    return created;
  }

  /** What is stored under the name of a class. */
  static ByteString value(ClassImage.Location location, String suffix) {
    return suffix.isEmpty()
        ? location.value()
        : location.value().concat(ByteString.copyFromUtf8(suffix));
  }

  /** Reads every class; returns how many answers are not what was written. */
  static long mismatches(List<ClassImage.Location> classes, String suffix, Reader reader) {
    long mismatches = 0;
    for (final ClassImage.Location location : classes) {
      if (!value(location, suffix).equals(reader.read(location.key()))) {
        mismatches++;
      }
    }
    return mismatches;
  }

  /** Times look-ups of one class after the other. */
  static Figures measure(List<ClassImage.Location> classes, Reader reader, long calls, long ms) {
    final Runnable lookup =
        new Runnable() {
          private int next;

          @Override
          public void run() {
            if (reader.read(classes.get(next).key()) == null) {
              throw new IllegalStateException("absent: " + classes.get(next).key().toStringUtf8());
            }
            next = next + 1 == classes.size() ? 0 : next + 1;
          }
        };
    return new Stopwatch().run(lookup, calls, ms);
  }

  /** The transport of its calls. */
  String transport() {
    return channel.transport().name();
  }

  private IndexBlockingStub stub() {
    return IndexGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    channel.shutdown();
    try {
      channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    channel.shutdownNow(); // without effect once it has ended
  }
}
