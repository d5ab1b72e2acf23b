package dev.ringfetch.examples.broker;

import dev.ringfetch.examples.kafka.RingProducer;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A process of the demo that sends records, and writes down those that were acknowledged. */
@Command(name = "producer")
final class ProducerProcess implements Callable<Integer> {
  private static final int KEYS = 64;
  private static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(2);

  @Option(names = "--target", required = true, description = "Servers of the index.")
  private String target;

  @Option(names = "--name", required = true, description = "Of the producer, in its records.")
  private String name;

  @Option(names = "--file", required = true, description = "Of acknowledged records.")
  private Path file;

  @Option(names = "--rate", required = true, description = "Records a second.")
  private int rate;

  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private OutputStream out;
  private Thread thread;
  private volatile boolean over;
  private long sent; // of the thread; read by others after its end

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new ProducerProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    try (OutputStream opened = Files.newOutputStream(file);
        RingProducer<String, String> producer =
            new RingProducer<>(
                Map.of(
                    ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                    target,
                    ProducerConfig.LINGER_MS_CONFIG,
                    0),
                null,
                new StringSerializer(),
                new StringSerializer())) {
      out = opened;
      new CommandLoop()
          .on("start", arguments -> start(producer))
          .on("stop", arguments -> stop(producer))
          .run();
    }
    return CommandLine.ExitCode.OK;
  }

  private Answer start(RingProducer<String, String> producer) {
    thread = new Thread(() -> sendAll(producer), "orders");
    thread.setDaemon(true);
    thread.start();
    return new Answer();
  }

  private void sendAll(RingProducer<String, String> producer) {
    final long startNs = System.nanoTime();
    while (!over) {
      final long due = (System.nanoTime() - startNs) * rate / TimeUnit.SECONDS.toNanos(1);
      while (sent < due) {
        final long sequence = ++sent;
        final Order order = new Order(name, sequence, System.nanoTime());
        final var unused =
            producer.send(
                new ProducerRecord<>(BrokerDemo.TOPIC, "key-" + sequence % KEYS, order.text()),
                (metadata, failure) -> ended(metadata, sequence, failure));
      }
      java.util.concurrent.locks.LockSupport.parkNanos(STEP_NS);
    }
  }

  private void ended(RecordMetadata metadata, long sequence, Exception failure) {
    if (failure != null) {
      System.err.println(name + ": record " + sequence + " may be lost: " + failure);
      failed.incrementAndGet();
      return;
    }
    final SeenRecord seen = new SeenRecord(metadata.partition(), metadata.offset(), name, sequence);
    synchronized (acknowledged) {
      try {
        out.write(seen.line().getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    acknowledged.incrementAndGet();
  }

  /** Sends no more, and waits for all acknowledgements. */
  private Answer stop(RingProducer<String, String> producer) throws InterruptedException {
    over = true;
    thread.join();
    producer.flush();
    return new Answer()
        .with("sent", sent)
        .with("acknowledged", acknowledged.get())
        .with("failed", failed.get());
  }
}
