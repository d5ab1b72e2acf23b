package dev.ringfetch.index.client;

import dev.ringfetch.rpc.Experimental;

/** The kinds of reads of which an {@link Access#ADAPTIVE} view chooses the route separately. */
@Experimental
public enum ReadKind {
  /** Of one key. */
  GET(1),
  /** Of a batch of up to 10 keys. */
  BATCH_OF_10(10),
  /** Of a batch of up to 100 keys. */
  BATCH_OF_100(100),
  /** Of a longer batch, of up to 1,000 keys. */
  LONGER_BATCH(Integer.MAX_VALUE),
  /** Of a chain of up to 16 entries. */
  CHAIN(16),
  /** Of a page of a scan, with up to 10 entries. */
  PAGE_OF_10(10),
  /** Of a page of a scan, with up to 100 entries. */
  PAGE_OF_100(100),
  /** Of a longer page of a scan, with up to 250 entries. */
  LONGER_PAGE(Integer.MAX_VALUE),
  /** Of a search for boxes, of up to 10 entries. */
  SEARCH_OF_10(10),
  /** Of a search for boxes, of up to 100 entries. */
  SEARCH_OF_100(100),
  /** Of a search for boxes with a higher limit, or none. */
  LONGER_SEARCH(Integer.MAX_VALUE),
  /** Of up to 10 nearest entries. */
  NEAREST_OF_10(10),
  /** Of up to 100 nearest entries. */
  NEAREST_OF_100(100),
  /** Of up to 1,000 nearest entries. */
  LONGER_NEAREST(Integer.MAX_VALUE);

  private static final ReadKind[] BATCHES = {GET, BATCH_OF_10, BATCH_OF_100, LONGER_BATCH};
  private static final ReadKind[] PAGES = {PAGE_OF_10, PAGE_OF_100, LONGER_PAGE};
  private static final ReadKind[] SEARCHES = {SEARCH_OF_10, SEARCH_OF_100, LONGER_SEARCH};
  private static final ReadKind[] NEAREST = {NEAREST_OF_10, NEAREST_OF_100, LONGER_NEAREST};

  private final int most;

  ReadKind(int most) {
    this.most = most;
  }

  /** The kind of a batch of so many keys. */
  static ReadKind batch(int keys) {
    return first(BATCHES, keys);
  }

  /** The kind of a page of at most so many entries. */
  static ReadKind page(int entries) {
    return first(PAGES, entries);
  }

  /** The kind of a search; the limit is 0 for none. */
  static ReadKind search(long limit) {
    return first(
        SEARCHES, limit > 0 ? (int) Math.min(limit, Integer.MAX_VALUE) : Integer.MAX_VALUE);
  }

  /** The kind of a search for the nearest entries. */
  static ReadKind nearest(int limit) {
    return first(NEAREST, limit);
  }

  private static ReadKind first(ReadKind[] kinds, int entries) {
    int i = 0;
    while (entries > kinds[i].most) {
      i++;
    }
    return kinds[i];
  }
}
