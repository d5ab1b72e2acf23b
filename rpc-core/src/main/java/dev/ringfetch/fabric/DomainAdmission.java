package dev.ringfetch.fabric;

/** The admission of one peer to a domain. May be used from any thread. */
public interface DomainAdmission extends AutoCloseable {
  /**
   * Revokes the admission: the peer's {@link RemoteDomain#isRevoked()} becomes true, and its later
   * work requests are {@link QueuePair#CLOSED}. Idempotent.
   */
  @Override
  void close();
}
