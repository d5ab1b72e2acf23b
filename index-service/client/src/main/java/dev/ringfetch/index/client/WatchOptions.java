package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import java.time.Duration;

/**
 * The options of a watch: its first change, and whether changes have values. Immutable: each
 * setting returns other options.
 */
public final class WatchOptions {
  /** Default of {@link #outageLimit}. */
  public static final Duration OUTAGE_LIMIT_DEFAULT = Duration.ofMinutes(1);

  private final ByteString token;
  private final boolean keysOnly;
  private final long outageLimitNs;
  private final Filter filter; // null: all

  private WatchOptions(ByteString token, boolean keysOnly, long outageLimitNs, Filter filter) {
    this.token = token;
    this.keysOnly = keysOnly;
    this.outageLimitNs = outageLimitNs;
    this.filter = filter;
  }

  /** Changes from the begin of the watch on. */
  public static WatchOptions fromNow() {
    return new WatchOptions(ByteString.EMPTY, false, OUTAGE_LIMIT_DEFAULT.toNanos(), null);
  }

  /**
   * Changes after those that another watch has delivered.
   *
   * @param token of {@link Watch#token}, of a watch of the same keys or of more.
   */
  public static WatchOptions from(ByteString token) {
    if (token.isEmpty()) {
      throw new IllegalArgumentException("token is empty");
    }
    return new WatchOptions(token, false, OUTAGE_LIMIT_DEFAULT.toNanos(), null);
  }

  /** Changes without values. */
  public WatchOptions keysOnly() {
    return new WatchOptions(token, true, outageLimitNs, filter);
  }

  /**
   * Sets how long the server may be away before the watch ends with UNAVAILABLE. Default {@link
   * #OUTAGE_LIMIT_DEFAULT}.
   */
  public WatchOptions outageLimit(Duration limit) {
    return new WatchOptions(token, keysOnly, View.checkDeadline(limit), filter);
  }

  /**
   * The writes of entries that a filter accepts, all removals, and all that leaves a watched box:
   * what was there before is not known, so it may be an entry that never came. An entry that enters
   * a box unaccepted, and is accepted later, comes with the crossing MOVE.
   */
  public WatchOptions where(Filter accepted) {
    return new WatchOptions(token, keysOnly, outageLimitNs, accepted);
  }

  Filter filter() {
    return filter;
  }

  ByteString token() {
    return token;
  }

  boolean isKeysOnly() {
    return keysOnly;
  }

  long outageLimitNs() {
    return outageLimitNs;
  }
}
