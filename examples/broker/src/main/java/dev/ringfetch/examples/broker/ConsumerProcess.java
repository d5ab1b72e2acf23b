package dev.ringfetch.examples.broker;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.kafka.RingConsumer;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.TopicCommits;
import dev.ringfetch.index.client.TransactionResult;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A process of the demo that consumes in a group, and stores its results with its offsets: for the
 * records of a partition in a poll, one transaction of the index writes {@link Tally} and offset,
 * if the group still has this generation and the offset is the one that this member began at. So a
 * record counts once, whatever is killed between its read and its commit.
 */
@Command(name = "consumer")
final class ConsumerProcess implements Callable<Integer> {
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration DEADLINE = Duration.ofSeconds(30); // over a fail-over
  private static final int START_SECONDS = 60;
  private static final int SESSION_MS = 3_000;
  private static final int HEARTBEAT_MS = 500;

  @Option(names = "--target", required = true, description = "Servers of the index.")
  private String target;

  @Option(names = "--name", required = true, description = "Of the consumer.")
  private String name;

  @Option(names = "--file", required = true, description = "Of the records that it read.")
  private Path file;

  private final Histogram latency = new Histogram(3);
  private final Map<Integer, Work> work = new HashMap<>(); // by partition
  private HashIndex<String, ByteString> index;
  private OutputStream out;
  private final CountDownLatch assigned = new CountDownLatch(1);
  private Thread thread;
  private volatile boolean over;
  private volatile Throwable failure; // null: none
  private long read; // of the thread; read by others after its end
  private long refused;

  /**
   * The state of a partition between two transactions.
   *
   * @param commit as the index has it; null if it has none.
   */
  private record Work(ByteString commit, Tally tally) {}

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new ConsumerProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    try (OutputStream opened = Files.newOutputStream(file);
        IndexClient client = IndexClient.builder().target(target).deadline(DEADLINE).build()) {
      out = opened;
      index = client.topics().commits().index();
      thread = new Thread(() -> consume(client), "orders");
      thread.setDaemon(true);
      new CommandLoop().on("start", this::start).on("stop", this::stop).run();
    }
    return CommandLine.ExitCode.OK;
  }

  /** Joins the group; answers when it has got partitions. */
  private Answer start(List<String> arguments) throws InterruptedException {
    thread.start();
    if (!assigned.await(START_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(name + " has no partitions after " + START_SECONDS + " s");
    }
    return new Answer();
  }

  private void consume(IndexClient client) {
    final Map<String, Object> settings =
        Map.of(
            ConsumerConfig.GROUP_ID_CONFIG,
            BrokerDemo.GROUP,
            ConsumerConfig.CLIENT_ID_CONFIG,
            name,
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            "earliest",
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            false,
            ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG,
            SESSION_MS,
            ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG,
            HEARTBEAT_MS);
    try (RingConsumer<String, String> consumer =
        new RingConsumer<>(settings, client, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(
          List.of(BrokerDemo.TOPIC),
          new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
              work.clear(); // all was committed with the work
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
              begin(consumer, partitions);
              assigned.countDown();
            }
          });
      while (!over) {
        final ConsumerRecords<String, String> records = consumer.poll(POLL);
        for (final TopicPartition partition : records.partitions()) {
          process(consumer, partition, records.records(partition));
        }
      }
    } catch (RuntimeException | IOException e) {
      failure = e;
    }
  }

  /** Reads what the last member has stored: offset and result of one moment. */
  private void begin(RingConsumer<String, String> consumer, Collection<TopicPartition> partitions) {
    try {
      out.write((SeenRecord.ASSIGNED + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    for (final TopicPartition each : partitions) {
      final TransactionResult<String, ByteString> stored =
          index
              .transaction()
              .then(
                  operations ->
                      operations
                          .get(commitKey(each.partition()))
                          .get(Tally.key(BrokerDemo.GROUP, each.partition())))
              .commit();
      final ByteString commit = stored.value(0).orElse(null);
      work.put(
          each.partition(),
          new Work(commit, stored.value(1).map(Tally::decoded).orElse(Tally.NONE)));
      if (commit != null) {
        consumer.seek(each, TopicCommits.Commit.decoded(commit).offset());
      }
    }
  }

  private static String commitKey(int partition) {
    return TopicCommits.key(
        BrokerDemo.GROUP,
        new dev.ringfetch.index.client.TopicPartition(BrokerDemo.TOPIC, partition));
  }

  private void process(
      RingConsumer<String, String> consumer,
      TopicPartition place,
      List<ConsumerRecord<String, String>> records)
      throws IOException {
    final long nowNs = System.nanoTime();
    final Work before = work.get(place.partition());
    final StringBuilder lines = new StringBuilder();
    Tally tally = before.tally;
    for (final ConsumerRecord<String, String> each : records) {
      final Order order = Order.parse(each.value());
      latency.recordValue(Math.max(nowNs - order.sentNs(), 0));
      tally = tally.with(each.offset(), each.value());
      lines.append(
          new SeenRecord(place.partition(), each.offset(), order.producer(), order.sequence())
              .line());
    }
    read += records.size();
    out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
    store(consumer, place, before, tally, records.get(records.size() - 1).offset() + 1);
  }

  /** Stores result and offset in one step, unless the partition is another member's by now. */
  private void store(
      RingConsumer<String, String> consumer,
      TopicPartition place,
      Work before,
      Tally tally,
      long next) {
    final String key = commitKey(place.partition());
    final ByteString commit = new TopicCommits.Commit(next, "").encoded();
    final ByteString generation =
        Codec.int64().encode((long) consumer.groupMetadata().generationId());
    final TransactionResult<String, ByteString> stored =
        index
            .transaction()
            .when(
                conditions -> {
                  conditions.value(TopicCommits.generationKey(BrokerDemo.GROUP), generation);
                  if (before.commit == null) {
                    conditions.absent(key);
                  } else {
                    conditions.value(key, before.commit);
                  }
                })
            .then(
                operations ->
                    operations
                        .put(key, commit)
                        .put(Tally.key(BrokerDemo.GROUP, place.partition()), tally.encoded()))
            .commit();
    if (stored.succeeded()) {
      work.put(place.partition(), new Work(commit, tally));
      return;
    }
    refused++; // the next poll says that the partitions are lost
    consumer.pause(List.of(place));
  }

  private Answer stop(List<String> arguments) throws InterruptedException {
    over = true;
    thread.join();
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    return new Answer()
        .with("read", read)
        .with("refused", refused)
        .with("p50_us", latency.getValueAtPercentile(50) / 1e3)
        .with("p99_us", latency.getValueAtPercentile(99) / 1e3);
  }
}
