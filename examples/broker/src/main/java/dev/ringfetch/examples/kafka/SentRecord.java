package dev.ringfetch.examples.kafka;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** A record between {@code send} and its end: the future that the application has of it. */
final class SentRecord extends CompletableFuture<RecordMetadata> {
  private static final Logger LOGGER = System.getLogger(RingProducer.class.getName());
  private static final int UNKNOWN = -1;

  private final TopicPartition partition;
  private final Callback callback; // null: none
  private final int keyLength;
  private final int valueLength;

  SentRecord(TopicPartition partition, Callback callback, byte[] key, byte[] value) {
    this.partition = partition;
    this.callback = callback;
    keyLength = key == null ? UNKNOWN : key.length;
    valueLength = value == null ? UNKNOWN : value.length;
  }

  /** Ends it with its offset and its time, 0 if that is unknown; calls the callback. */
  void appended(long offset, long timeMs) {
    end(metadata(offset, timeMs == 0 ? ConsumerRecord.NO_TIMESTAMP : timeMs), null);
  }

  /** Ends it with a failure; calls the callback. */
  void failed(KafkaException failure) {
    end(metadata(UNKNOWN, ConsumerRecord.NO_TIMESTAMP), failure);
  }

  private RecordMetadata metadata(long offset, long timeMs) {
    return new RecordMetadata(partition, offset, 0, timeMs, keyLength, valueLength);
  }

  private void end(RecordMetadata metadata, KafkaException failure) {
    if (callback != null && !isDone()) {
      try {
        callback.onCompletion(metadata, failure);
      } catch (RuntimeException e) {
        LOGGER.log(Level.ERROR, "the callback of a record of " + partition + " has failed", e);
      }
    }
    if (failure == null) {
      complete(metadata);
    } else {
      completeExceptionally(failure);
    }
  }

  /** Returns false: what was sent cannot be taken back. */
  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    return false;
  }
}
