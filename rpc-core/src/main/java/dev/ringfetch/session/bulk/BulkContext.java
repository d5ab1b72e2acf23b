package dev.ringfetch.session.bulk;

/** The options of a session's registered memory. */
public interface BulkContext {
  /** Messages longer than this, in bytes, are read by the peer out of registered memory. */
  int bulkThreshold();

  /**
   * Length of the runs of registered memory in which a long message is put, and what is copied out
   * of the peer's in a round: how long a short message may have to wait, in bytes.
   */
  int bulkSegmentLength();

  /**
   * Memory that this side registers at the most for a session's long messages, in bytes; 0 for
   * none. It is registered as it is needed, some megabytes at a time.
   */
  int bulkLength();

  /** Limit of what all sessions with this quota register together; of this context unless set. */
  MemoryQuota bulkQuota();
}
