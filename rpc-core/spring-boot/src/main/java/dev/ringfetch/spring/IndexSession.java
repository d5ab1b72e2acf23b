package dev.ringfetch.spring;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.session.MapSession;
import org.springframework.session.Session;
import org.springframework.session.UuidSessionIdGenerator;

/**
 * A session as a request sees it, with the attributes that the request has set or removed since the
 * session was read. As with Spring's own stores, a changed object counts when it is set again.
 */
public final class IndexSession implements Session {
  /** The longest time to live of an index. */
  private static final Duration ENDLESS = Duration.ofDays(3_650);

  private final MapSession session;
  private final Map<String, @Nullable Object> changes = new HashMap<>();

  private @Nullable String storedId; // null: not stored yet
  private Duration storedInterval;
  private Instant storedAccess;

  /** A session that is new if it has no stored identifier. */
  IndexSession(MapSession session, @Nullable String storedId) {
    this.session = session;
    session.setSessionIdGenerator(UuidSessionIdGenerator.getInstance()); // is not serialized
    this.storedId = storedId;
    this.storedInterval = session.getMaxInactiveInterval();
    this.storedAccess = session.getLastAccessedTime();
  }

  /** A stored session. Touches move its deadline alone, which so tells of the last access. */
  static IndexSession read(MapSession session, String id, Optional<Instant> deadline) {
    deadline.map(end -> end.minus(timeToLive(session))).ifPresent(session::setLastAccessedTime);
    return new IndexSession(session, id);
  }

  /** The time to live of the entry; as long as can be for a session without an end. */
  Duration timeToLive() {
    return timeToLive(session);
  }

  private static Duration timeToLive(MapSession session) {
    final Duration interval = session.getMaxInactiveInterval();
    return interval.isNegative() || interval.compareTo(ENDLESS) > 0 ? ENDLESS : interval;
  }

  MapSession state() {
    return session;
  }

  @Nullable String storedId() {
    return storedId;
  }

  /** True if the store has other attributes, another interval or another identifier. */
  boolean isChanged() {
    return !changes.isEmpty()
        || !session.getId().equals(storedId)
        || !session.getMaxInactiveInterval().equals(storedInterval);
  }

  /** True if a thirtieth of its interval has gone by since the access that the store knows of. */
  boolean isTouchDue() {
    final Duration since = Duration.between(storedAccess, session.getLastAccessedTime());
    return since.compareTo(timeToLive().dividedBy(30)) >= 0;
  }

  /** Brings the changes into what the store has, which another request may have changed. */
  MapSession mergeInto(MapSession stored) {
    changes.forEach(stored::setAttribute); // null removes
    stored.setId(session.getId());
    stored.setMaxInactiveInterval(session.getMaxInactiveInterval());
    stored.setLastAccessedTime(session.getLastAccessedTime());
    return stored;
  }

  void saved() {
    changes.clear();
    storedId = session.getId();
    storedInterval = session.getMaxInactiveInterval();
    storedAccess = session.getLastAccessedTime();
  }

  @Override
  public String getId() {
    return session.getId();
  }

  @Override
  public String changeSessionId() {
    return session.changeSessionId();
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals") // Spring's
  public <T> @Nullable T getAttribute(String name) {
    return session.getAttribute(name);
  }

  @Override
  public Set<String> getAttributeNames() {
    return session.getAttributeNames();
  }

  @Override
  public void setAttribute(String name, @Nullable Object value) {
    session.setAttribute(name, value);
    changes.put(name, value);
  }

  @Override
  public void removeAttribute(String name) {
    setAttribute(name, null);
  }

  @Override
  public Instant getCreationTime() {
    return session.getCreationTime();
  }

  @Override
  public void setLastAccessedTime(Instant time) {
    session.setLastAccessedTime(time);
  }

  @Override
  public Instant getLastAccessedTime() {
    return session.getLastAccessedTime();
  }

  @Override
  public void setMaxInactiveInterval(Duration interval) {
    session.setMaxInactiveInterval(interval);
  }

  @Override
  public Duration getMaxInactiveInterval() {
    return session.getMaxInactiveInterval();
  }

  @Override
  public boolean isExpired() {
    return session.isExpired();
  }
}
