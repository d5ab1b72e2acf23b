package dev.ringfetch.examples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.IndexEntry;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class KeyRecordTest {
  private final KeyRecord record = new KeyRecord("key");

  private static Optional<IndexEntry<String, Long>> entry(long version, long value) {
    return Optional.of(new IndexEntry<>("key", value, version));
  }

  @Test
  void absenceIsRightBeforeTheFirstWriteAndBackAfterIt() {
    assertTrue(record.found(record.floor(), Optional.empty()));
    record.acknowledged(7, 1);
    assertFalse(record.found(record.floor(), Optional.empty()));
  }

  @Test
  void whatWasSeenBeforeTheReadBeganIsTheLeastThatItFinds() {
    record.acknowledged(7, 3);
    final KeyRecord.Seen floor = record.floor();
    assertTrue(record.found(floor, entry(9, 4)));
    assertTrue(record.found(floor, entry(7, 3)), "it began before the newer one was seen");
    assertFalse(record.found(record.floor(), entry(7, 3)));
  }

  @Test
  void aNewerVersionWithAnOlderValueIsBack() {
    record.acknowledged(7, 3);
    assertFalse(record.found(record.floor(), entry(8, 2)));
  }

  @Test
  void aVersionHasOneValue() {
    record.acknowledged(7, 3);
    assertFalse(record.found(record.floor(), entry(7, 4)));
  }

  @Test
  void anAcknowledgementThatComesLateIsNoStepBack() {
    record.acknowledged(9, 4);
    record.acknowledged(7, 3);
    assertEquals(new KeyRecord.Seen(9, 4), record.floor());
    assertEquals(2, record.acknowledgedWrites());
  }
}
