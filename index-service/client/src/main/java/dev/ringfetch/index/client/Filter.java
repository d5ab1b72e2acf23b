package dev.ringfetch.index.client;

import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.v1.FilterList;

/**
 * A condition on the entries of a scan, a search or a count: comparisons of {@link Field}s, joined
 * by and, or, not. The server evaluates it, or the client while it reads memory: the same entries
 * come either way.
 *
 * <p>Immutable. Safe for use by many threads.
 */
public final class Filter {
  private final dev.ringfetch.index.v1.Filter message;

  private Filter(dev.ringfetch.index.v1.Filter message) {
    this.message = message;
  }

  /**
   * Creates the filter of a message.
   *
   * @throws IllegalArgumentException if it is none, or has more than 32 nodes.
   */
  static Filter of(dev.ringfetch.index.v1.Filter message) {
    new EntryFilter(message); // checks it
    return new Filter(message);
  }

  /**
   * Both hold.
   *
   * @throws IllegalArgumentException if both have more than 31 nodes together: comparisons, joins,
   *     and negations.
   */
  public Filter and(Filter other) {
    final FilterList.Builder all =
        message.hasAll()
            ? message.getAll().toBuilder()
            : FilterList.newBuilder().addFilters(message);
    return of(
        dev.ringfetch.index.v1.Filter.newBuilder().setAll(all.addFilters(other.message)).build());
  }

  /** At least one holds. Limited as {@link #and}. */
  public Filter or(Filter other) {
    final FilterList.Builder any =
        message.hasAny()
            ? message.getAny().toBuilder()
            : FilterList.newBuilder().addFilters(message);
    return of(
        dev.ringfetch.index.v1.Filter.newBuilder().setAny(any.addFilters(other.message)).build());
  }

  /** This does not hold. */
  public Filter negate() {
    return of(dev.ringfetch.index.v1.Filter.newBuilder().setNot(message).build());
  }

  dev.ringfetch.index.v1.Filter message() {
    return message;
  }

  @Override
  public String toString() {
    return message.toString();
  }
}
