package dev.ringfetch.examples.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.examples.kafka.RingProducer;
import dev.ringfetch.examples.kafka.TestBroker;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The proof of the demo finds each kind of mistake. */
@Timeout(60)
final class ProofTest {
  private static final int COUNT = 6;

  @TempDir private Path directory;
  private TestBroker broker;
  private final List<SeenRecord> appended = new ArrayList<>();
  private Tally tally = Tally.NONE;

  @BeforeEach
  void start() throws Exception {
    broker = new TestBroker(directory);
    broker.topic(BrokerDemo.TOPIC, 1);
    for (int i = 1; i <= COUNT; i++) {
      append(i);
    }
    store();
  }

  private void append(long sequence) throws Exception {
    try (RingProducer<String, String> producer = broker.producer()) {
      final String text = new Order("p", sequence, 7).text();
      final long offset =
          producer
              .send(new ProducerRecord<>(BrokerDemo.TOPIC, text))
              .get(20, TimeUnit.SECONDS)
              .offset();
      appended.add(new SeenRecord(0, offset, "p", sequence));
      tally = tally.with(offset, text);
    }
  }

  private void store() {
    broker.client.topics().commits().index().put(Tally.key(BrokerDemo.GROUP, 0), tally.encoded());
  }

  @AfterEach
  void stop() {
    broker.close();
  }

  private List<String> mistakes(List<SeenRecord> acknowledged, List<SeenRecord> read) {
    final Proof proof = new Proof(1);
    proof.acknowledged(List.of(acknowledged));
    proof.read(List.of(read));
    proof.check(broker.client);
    return proof.mistakes().stream().map(each -> each.replaceFirst(":.*", "")).toList();
  }

  @Test
  void acceptsWhatIsRight() {
    assertEquals(List.of(), mistakes(appended, appended));
    assertEquals(List.of(), mistakes(appended.subList(0, 3), appended));
  }

  @Test
  void findsALostRecord() {
    assertEquals(
        List.of("acknowledged and not read"), mistakes(appended, appended.subList(0, COUNT - 1)));
  }

  @Test
  void findsAnotherOrder() {
    final List<SeenRecord> swapped = new ArrayList<>(appended);
    swapped.add(0, swapped.remove(1));
    assertEquals(List.of("acknowledged out of order"), mistakes(swapped, appended));
    assertEquals(List.of("read out of order"), mistakes(appended, swapped));
  }

  @Test
  void findsARecordThatIsAppendedTwice() throws Exception {
    append(COUNT);
    store();
    assertEquals(
        List.of("appended twice", "appended out of order"),
        mistakes(appended.subList(0, COUNT), appended));
  }

  @Test
  void findsAResultThatCountsTwiceOrNotAtAll() {
    tally = tally.with(1, "again");
    store();
    assertEquals(List.of("counted wrongly"), mistakes(appended, appended));
  }

  @Test
  void findsARecordThatIsNowhere() {
    final List<SeenRecord> more = new ArrayList<>(appended);
    more.add(new SeenRecord(0, 1_000, "p", 1_000));
    assertEquals(List.of("read and not in the topic"), mistakes(appended, more));
  }

  @Test
  void takesAFileThatEndsInTheMiddleOfALine() throws Exception {
    final Path file = directory.resolve("seen");
    Files.writeString(file, "assigned\n" + appended.get(0).line() + "0 77 p");
    assertEquals(List.of(List.of(), List.of(appended.get(0))), SeenRecord.read(file));
  }
}
