package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.Range;
import dev.ringfetch.index.client.TopicOptions;
import dev.ringfetch.index.client.TopicPartition;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** An index server in this JVM, with a client, producers and consumers of strings. */
public final class TestBroker implements AutoCloseable {
  private static final long MEMORY = 256L << 20;

  private final Path directory;
  private final Indexes indexes;
  private final RingServer server;
  public final IndexClient client;

  /** Run by the server at each call for a page of a scan. */
  volatile Runnable beforePage = () -> {};

  public TestBroker(Path directory) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.shared(
                new IndexMemoryContext().fabrics("shm").shmDirectory(directory).budget(MEMORY)));
    final RingServerBuilder builder =
        RingServerBuilder.forPort(0).shmDirectory(directory).intercept(new PageInterceptor());
    DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.ALWAYS);
    IndexServer.addServices(builder, indexes, new HealthStatusManager());
    server = builder.build().start();
    this.directory = directory;
    client = client(Duration.ofSeconds(60));
  }

  /** A client whose calls may take so long. */
  IndexClient client(Duration deadline) {
    return IndexClient.builder()
        .target("localhost:" + server.getPort())
        .shmDirectory(directory)
        .deadline(deadline)
        .build();
  }

  /** A client that reads by calls only. */
  IndexClient callingClient() {
    return IndexClient.builder().target("localhost:" + server.getPort()).build();
  }

  private final class PageInterceptor implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
      final String name = IndexGrpc.getScanPageMethod().getFullMethodName();
      if (call.getMethodDescriptor().getFullMethodName().equals(name)) {
        beforePage.run();
      }
      return next.startCall(call, headers);
    }
  }

  public void topic(String name, int partitions) {
    client.topics().create(name, TopicOptions.partitions(partitions));
  }

  /** Removes all records of a partition; retention keeps the newest one. */
  void removeRecords(String topic, int partition) {
    final var records =
        client.ordered(
            new TopicPartition(topic, partition).index(), Codec.byteString(), Codec.byteString());
    assertTrue(records.deleteRange(Range.all()) > 0);
  }

  /** A producer with settings, by turns name and value. */
  public RingProducer<String, String> producer(Object... settings) {
    final Map<String, Object> all = new HashMap<>(Map.of(ProducerConfig.LINGER_MS_CONFIG, 0));
    put(all, settings);
    return new RingProducer<>(all, client, new StringSerializer(), new StringSerializer());
  }

  /** A consumer with settings, by turns name and value, which begins at the first record. */
  RingConsumer<String, String> consumer(Object... settings) {
    final Map<String, Object> all =
        new HashMap<>(
            Map.of(
                ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                "earliest",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false,
                ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG,
                100,
                ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG,
                1_000));
    put(all, settings);
    return new RingConsumer<>(all, client, new StringDeserializer(), new StringDeserializer());
  }

  private static void put(Map<String, Object> all, Object... settings) {
    for (int i = 0; i < settings.length; i += 2) {
      all.put((String) settings[i], settings[i + 1]);
    }
  }

  /** Polls until there are so many records; fails after 20 s. */
  static List<ConsumerRecord<String, String>> poll(RingConsumer<String, String> from, int count) {
    final List<ConsumerRecord<String, String>> all = new ArrayList<>();
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (all.size() < count && System.nanoTime() - endNs < 0) {
      from.poll(Duration.ofMillis(100)).forEach(all::add);
    }
    if (all.size() != count) {
      throw new AssertionError("polled records=" + all.size() + " of " + count);
    }
    return all;
  }

  /** Ends the server; clients find none from now on. */
  void stop() {
    server.shutdownNow();
    try {
      server.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    indexes.close();
  }

  @Override
  public void close() {
    client.close();
    stop();
  }
}
