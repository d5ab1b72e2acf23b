package dev.ringfetch.memory;

/** What an owner has under a name. */
sealed interface Owned extends AutoCloseable permits Broadcast, Counter, OwnedValue, OwnerLock {
  /** Takes the name back. */
  @Override
  void close();
}
