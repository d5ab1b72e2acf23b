package dev.ringfetch.examples.kafka;

/** The reasons why parts of Kafka's interfaces are refused. */
final class Refusals {
  static final String TRANSACTIONS =
      "an append is one record of one log, and no transaction spans several; a transaction of the"
          + " index stores results with their offsets";
  static final String INTERCEPTORS = "wrap the serializer, or the calls, instead";
  static final String METRICS = "the metrics of the index's client count its operations";
  static final String PATTERNS = "members agree on lists of topics: subscribe to topics by name";
  static final String REBALANCE =
      "members get other partitions when the group changes; unsubscribe and subscribe again";

  private Refusals() {}

  /** The exception for an operation. */
  static UnsupportedOperationException of(String operation, String reason) {
    return new UnsupportedOperationException(operation + " is not supported: " + reason);
  }
}
