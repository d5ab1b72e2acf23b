package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.TopicLog;
import dev.ringfetch.index.client.TopicPage;
import dev.ringfetch.index.client.TopicRecord;
import dev.ringfetch.index.client.Topics;
import io.grpc.Status;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.RecordDeserializationException.DeserializationExceptionOrigin;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * The partitions of a consumer: their positions, and the records behind these. Used by one thread.
 */
final class AssignedPartitions<K, V> implements AutoCloseable {
  /** Of a call on behalf of a poll, which tries again in the next round. */
  static final Duration READ_LIMIT = Duration.ofSeconds(1);

  private static final Logger LOGGER = System.getLogger(RingConsumer.class.getName());

  private final Topics topics;
  private final Limits limits;
  private final Deserializer<K> keys;
  private final Deserializer<V> values;
  private final Runnable onAppend;
  private final Map<TopicPartition, PartitionReader> readers = new LinkedHashMap<>();
  private int first; // of the next fetch

  /** The positions of partitions that have no commit. */
  enum Reset {
    EARLIEST,
    LATEST,
    /** An exception tells the application. */
    NONE
  }

  /**
   * The limits of a fetch.
   *
   * @param records of all partitions.
   * @param partitionBytes of one partition; one record may be longer.
   */
  record Limits(int records, int partitionBytes, Reset reset) {}

  AssignedPartitions(
      Topics topics,
      Limits limits,
      Deserializer<K> keys,
      Deserializer<V> values,
      Runnable onAppend) {
    this.topics = topics;
    this.limits = limits;
    this.keys = keys;
    this.values = values;
    this.onAppend = onAppend;
  }

  /** The log of any partition. */
  TopicLog log(TopicPartition place) {
    return topics
        .log(place.topic(), place.partition())
        .access(Access.ADAPTIVE)
        .deadline(READ_LIMIT);
  }

  Set<TopicPartition> all() {
    return Set.copyOf(readers.keySet());
  }

  /** The reader of a partition that has to be assigned. */
  PartitionReader reader(TopicPartition place) {
    final PartitionReader reader = readers.get(place);
    if (reader == null) {
      throw new IllegalStateException("no assignment of partition=" + place);
    }
    return reader;
  }

  /** Sets the partitions; those that were there before keep their positions. */
  void set(Collection<TopicPartition> places) {
    readers
        .entrySet()
        .removeIf(
            each -> {
              final boolean gone = !places.contains(each.getKey());
              if (gone) {
                each.getValue().close();
              }
              return gone;
            });
    places.forEach(
        place -> readers.computeIfAbsent(place, key -> new PartitionReader(log(key), onAppend)));
  }

  /** The partitions without a position. */
  Set<TopicPartition> unknown() {
    final Map<TopicPartition, PartitionReader> found = new HashMap<>(readers);
    found.values().removeIf(reader -> reader.position() != PartitionReader.UNKNOWN);
    return found.keySet();
  }

  /** Sets the positions of those without one: their commits, or as the setting says. */
  void begin(Map<TopicPartition, OffsetAndMetadata> committed) {
    for (final TopicPartition place : unknown()) {
      final OffsetAndMetadata commit = committed.get(place);
      if (commit != null) {
        readers.get(place).position(commit.offset());
      } else if (limits.reset == Reset.NONE) {
        throw new NoOffsetForPartitionException(place);
      } else {
        reset(readers.get(place));
      }
    }
  }

  private void reset(PartitionReader reader) {
    reader.position(limits.reset == Reset.EARLIEST ? reader.log().first() : reader.log().end());
  }

  /** The next position of each partition that is there and has one, for a commit. */
  Map<TopicPartition, OffsetAndMetadata> positions() {
    final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
    readers.forEach(
        (place, reader) -> {
          if (reader.position() != PartitionReader.UNKNOWN && !reader.isMissed()) {
            next.put(place, new OffsetAndMetadata(reader.position()));
          }
        });
    return next;
  }

  /**
   * Reads what is there, and does not wait for more; by turns, so that no partition starves.
   * Positions move to behind the records that it returns. A partition that fails beside others that
   * have records fails in a later fetch, which begins with it.
   *
   * @throws RecordDeserializationException if the first record cannot be deserialized.
   */
  ConsumerRecords<K, V> fetch() {
    final Map<TopicPartition, List<ConsumerRecord<K, V>>> found = new LinkedHashMap<>();
    final Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
    final List<TopicPartition> places = new ArrayList<>(readers.keySet());
    first = places.isEmpty() ? 0 : (first + 1) % places.size();
    int left = limits.records;
    for (int i = 0; i < places.size() && left > 0; i++) {
      final TopicPartition place = places.get((first + i) % places.size());
      final PartitionReader reader = readers.get(place);
      if (reader.isPaused() || reader.position() == PartitionReader.UNKNOWN) {
        continue;
      }
      final List<ConsumerRecord<K, V>> records = new ArrayList<>();
      long position = reader.position();
      try {
        for (final TopicRecord each : read(place, reader, left)) {
          records.add(record(place, each));
          position = each.offset() + 1;
        }
      } catch (RuntimeException e) {
        if (records.isEmpty() && found.isEmpty()) {
          throw e;
        } // otherwise what was read comes first
      }
      if (!records.isEmpty()) {
        left -= records.size();
        found.put(place, records);
        next.put(place, new OffsetAndMetadata(position));
      }
    }
    next.forEach((place, after) -> readers.get(place).moveTo(after.offset()));
    return found.isEmpty() ? ConsumerRecords.empty() : new ConsumerRecords<>(found, next);
  }

  private List<TopicRecord> read(TopicPartition place, PartitionReader reader, int records) {
    try {
      final TopicPage page = reader.log().page(reader.position(), records, limits.partitionBytes);
      return isOfPosition(place, reader, page) ? page.records() : List.of();
    } catch (
        dev.ringfetch.index.client.OffsetOutOfRangeException
            e) { // records were removed, or there is only a gap
      reader.position(e.first());
      return List.of(); // the next fetch reads
    } catch (RuntimeException e) {
      final RuntimeException failure = Failures.of(e);
      if (failure instanceof TimeoutException // a leader fails over
          || (e instanceof IndexException index && index.code() == Status.Code.ABORTED)) {
        return List.of(); // the topic was deleted within the read: the next fetch finds out
      }
      throw failure;
    }
  }

  /**
   * Notes which partition was read; returns whether the position is one of it. One that was created
   * again may end before the position; where a read found none meanwhile, only a position at the
   * begin is still one.
   */
  private boolean isOfPosition(TopicPartition place, PartitionReader reader, TopicPage page) {
    if (page.incarnation() == 0) {
      if (!reader.isMissed()) {
        LOGGER.log(
            Level.WARNING, "there is no partition {0}: it is read when it is created", place);
      }
      reader.missed();
      return true;
    }
    if (reader.isMissed() && reader.position() > TopicLog.BEGIN) {
      createdAgain(place, reader);
      return false;
    }
    final long known = reader.incarnation();
    if (known != page.incarnation() && page.records().isEmpty()) {
      final long end = reader.log().end();
      if (end < reader.position() && known != 0) {
        createdAgain(place, reader);
        return false;
      }
      if (end < reader.position()) { // the last records were lost, or all were removed
        LOGGER.log(
            Level.WARNING,
            "offset={1} is beyond the end={2} of {0}: nothing is read until offsets reach it",
            place,
            Long.toString(reader.position()),
            Long.toString(end));
      }
    }
    reader.incarnation(page.incarnation());
    return true;
  }

  private void createdAgain(TopicPartition place, PartitionReader reader) {
    final long offset = reader.position();
    if (limits.reset == Reset.NONE) {
      throw new OffsetOutOfRangeException(Map.of(place, offset));
    }
    reset(reader);
    LOGGER.log(
        Level.WARNING,
        "{0} was created again: offset={1} was one of the former; the next one is {2}",
        place,
        Long.toString(offset),
        Long.toString(reader.position()));
  }

  private ConsumerRecord<K, V> record(TopicPartition place, TopicRecord record) {
    Payload payload = null;
    DeserializationExceptionOrigin origin = DeserializationExceptionOrigin.VALUE;
    try {
      payload = Payload.decoded(record.value());
      origin = DeserializationExceptionOrigin.KEY;
      final K key =
          payload.key() == null
              ? null
              : keys.deserialize(place.topic(), payload.headers(), payload.key());
      origin = DeserializationExceptionOrigin.VALUE;
      final V value =
          payload.value() == null
              ? null
              : values.deserialize(place.topic(), payload.headers(), payload.value());
      return new ConsumerRecord<>(
          place.topic(),
          place.partition(),
          record.offset(),
          record.timeMs(),
          TimestampType.LOG_APPEND_TIME,
          length(payload.key()),
          length(payload.value()),
          key,
          value,
          payload.headers(),
          Optional.empty());
    } catch (RuntimeException e) {
      throw new RecordDeserializationException(
          origin,
          place,
          record.offset(),
          record.timeMs(),
          TimestampType.LOG_APPEND_TIME,
          payload == null || payload.key() == null ? null : ByteBuffer.wrap(payload.key()),
          payload == null
              ? record.value().asReadOnlyByteBuffer()
              : payload.value() == null ? null : ByteBuffer.wrap(payload.value()),
          payload == null ? null : payload.headers(),
          "the "
              + origin
              + " at offset="
              + record.offset()
              + " of "
              + place
              + " is not legible: "
              + e.getMessage(),
          e);
    }
  }

  private static int length(byte[] bytes) {
    return bytes == null ? ConsumerRecord.NULL_SIZE : bytes.length;
  }

  /** Turns notifications of appends on or off. */
  void notifications(boolean on) {
    readers.values().forEach(reader -> reader.notifications(on && !reader.isPaused()));
  }

  @Override
  public void close() {
    set(Set.of());
  }
}
