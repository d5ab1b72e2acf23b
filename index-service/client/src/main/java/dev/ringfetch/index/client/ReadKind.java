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
  /** Of a page of a scan, with up to 10 entries. */
  PAGE_OF_10(10),
  /** Of a page of a scan, with up to 100 entries. */
  PAGE_OF_100(100),
  /** Of a longer page of a scan, with up to 250 entries. */
  LONGER_PAGE(Integer.MAX_VALUE);

  private static final ReadKind[] BATCHES = {GET, BATCH_OF_10, BATCH_OF_100, LONGER_BATCH};
  private static final ReadKind[] PAGES = {PAGE_OF_10, PAGE_OF_100, LONGER_PAGE};

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

  private static ReadKind first(ReadKind[] kinds, int entries) {
    int i = 0;
    while (entries > kinds[i].most) {
      i++;
    }
    return kinds[i];
  }
}
