package dev.ringfetch.session.bulk;

import java.io.IOException;

/** The way of tests in other packages to what registered memory shows its own package only. */
public final class BulkAccess {
  /** See {@link BulkRegion#PAGE_LENGTH}. */
  public static final int PAGE_LENGTH = BulkRegion.PAGE_LENGTH;

  /** See {@link BulkPool#REGION_LENGTH}. */
  public static final int REGION_LENGTH = BulkPool.REGION_LENGTH;

  private BulkAccess() {}

  /** See {@link BulkPool#droppedUnits}. */
  public static int droppedUnits(BulkPool pool) {
    return pool.droppedUnits();
  }

  /** See {@link ReadWindow#open}. */
  public static void open(ReadWindow window) throws IOException {
    window.open();
  }

  /** See {@link MemoryExchange#offers}. */
  public static int offers(MemoryExchange exchange) {
    return exchange.offers();
  }
}
