package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.chain.v1.ArticleSheet;
import dev.ringfetch.examples.chain.v1.QuoteReply;
import dev.ringfetch.examples.chain.v1.StockEntry;

/**
 * The articles of the shop, by number. All that is known of an article follows from its number, so
 * that a shopper can tell whether an answer is right.
 */
final class Stock {
  /** How many articles there are. */
  static final int ARTICLES = 1000;

  /** Pieces from which on the price of each is lower. */
  static final int BULK = 10;

  private static final int DISCOUNT_PERCENT = 20;
  private static final int PERCENT = 100;
  private static final int PROPERTIES = 16;
  private static final int MAX_AVAILABLE = 50;

  private Stock() {}

  /** Name of an article; the key of its entry. */
  static String name(int number) {
    return "article-" + number;
  }

  /** The entry in the index. */
  static StockEntry entry(int number) {
    return StockEntry.newBuilder()
        .setCents(PERCENT + number)
        .setAvailable(number % MAX_AVAILABLE)
        .setSheet(sheet(number).toByteString())
        .build();
  }

  private static ArticleSheet sheet(int number) {
    final ArticleSheet.Builder sheet = ArticleSheet.newBuilder().setArticle(name(number));
    for (int i = 0; i < PROPERTIES; i++) {
      sheet.addProperties("property " + i + " of " + name(number) + ": " + number * (i + 1));
    }
    return sheet.build();
  }

  /** The price of some pieces. */
  static long price(long centsOfOne, int pieces) {
    final long all = centsOfOne * pieces;
    return pieces < BULK ? all : all * (PERCENT - DISCOUNT_PERCENT) / PERCENT;
  }

  /** The only right answer to a shopper's question. */
  static QuoteReply quote(int number, int pieces) {
    final StockEntry entry = entry(number);
    return QuoteReply.newBuilder()
        .setCents(price(entry.getCents(), pieces))
        .setDeliverable(entry.getAvailable() >= pieces)
        .setSheet(entry.getSheet())
        .build();
  }
}
