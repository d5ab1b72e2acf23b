package dev.ringfetch.spring;

import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexEntry;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.session.MapSession;
import org.springframework.session.SessionRepository;

/**
 * The store of Spring's sessions in an index: a session is an entry whose time to live is its
 * interval without a request. Requests that change different attributes of a session at a time both
 * take effect; a session that was removed stays so.
 */
public final class IndexSessionRepository implements SessionRepository<IndexSession> {
  private final HashIndex<String, MapSession> sessions;
  private final Duration interval;

  /**
   * Creates a store whose sessions are serialized by the JDK.
   *
   * @param index name of the index.
   * @param interval without a request after which a session ends, unless it has its own.
   */
  public IndexSessionRepository(IndexClient client, String index, Duration interval) {
    this(client, index, interval, new SerializedCodec<>());
  }

  /** Creates a store whose sessions have the form of this codec. */
  public IndexSessionRepository(
      IndexClient client, String index, Duration interval, Codec<MapSession> codec) {
    this.sessions = client.hash(index, Codec.string(), codec);
    this.interval = interval;
  }

  @Override
  public IndexSession createSession() {
    final MapSession session = new MapSession();
    session.setMaxInactiveInterval(interval);
    return new IndexSession(session, null);
  }

  @Override
  public @Nullable IndexSession findById(String id) {
    final Optional<IndexEntry<String, MapSession>> found = sessions.getEntry(id);
    if (found.isEmpty()) {
      return null;
    }
    return IndexSession.read(found.get().value(), id, found.get().deadline());
  }

  /**
   * Writes the changes of a session, or prolongs one without changes, once a thirtieth of its
   * interval has gone by.
   *
   * @throws IllegalStateException if the session was removed, or has ended.
   */
  @Override
  public void save(IndexSession session) {
    final String stored = session.storedId();
    final Duration ttl = session.timeToLive();
    if (ttl.isZero()) { // ends at once
      deleteById(stored == null ? session.getId() : stored);
    } else if (stored == null) {
      sessions.put(session.getId(), session.state(), ttl);
    } else if (!stored.equals(session.getId())) {
      move(session, stored, ttl);
    } else if (session.isChanged()) {
      sessions.update(stored, present -> merged(session, present), ttl);
    } else if (!session.isTouchDue()) {
      return;
    } else if (sessions.touch(stored, ttl).isEmpty()) {
      throw gone();
    }
    session.saved();
  }

  /**
   * Writes a session under its new id, and removes the old one: both or, where the session was
   * removed meanwhile, neither. What others have changed meanwhile counts.
   */
  private void move(IndexSession session, String stored, Duration ttl) {
    while (true) {
      final Optional<IndexEntry<String, MapSession>> present = sessions.getEntry(stored);
      if (present.isEmpty()) {
        sessions.remove(session.getId());
        throw gone();
      }
      sessions.put(session.getId(), session.mergeInto(present.get().value()), ttl);
      if (sessions.removeIf(stored, present.get().version())) {
        return;
      }
    }
  }

  private static MapSession merged(IndexSession session, Optional<MapSession> present) {
    return session.mergeInto(present.orElseThrow(IndexSessionRepository::gone));
  }

  private static IllegalStateException gone() {
    return new IllegalStateException("the session was removed, or has ended");
  }

  @Override
  public void deleteById(String id) {
    sessions.remove(id);
  }
}
