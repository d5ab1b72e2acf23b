package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.IndexException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The translation of failures of the index to Kafka's exceptions. */
final class Failures {
  private Failures() {}

  /** The exception of Kafka that callers handle like this failure. */
  static KafkaException of(Throwable failure) {
    if (failure instanceof KafkaException known) {
      return known;
    }
    if (!(failure instanceof IndexException e)) {
      return new KafkaException(failure.toString(), failure);
    }
    return switch (e.code()) {
      case NOT_FOUND -> new UnknownTopicOrPartitionException(e.getMessage(), e);
      case DEADLINE_EXCEEDED, UNAVAILABLE -> new TimeoutException(e.getMessage(), e);
      case PERMISSION_DENIED -> new TopicAuthorizationException(e.getMessage());
      case UNAUTHENTICATED -> new SaslAuthenticationException(e.getMessage(), e);
      case INVALID_ARGUMENT -> new RecordTooLargeException(e.getMessage(), e);
      case CANCELLED ->
          Thread.currentThread().isInterrupted()
              ? new InterruptException(e.getMessage(), new InterruptedException(e.getMessage()))
              : new KafkaException(e.getMessage(), e);
      default -> new KafkaException(e.getMessage(), e);
    };
  }
}
