package dev.ringfetch.examples.chain;

/** A process of the chain, from its caller to its end. */
enum Part {
  /** The client, which asks for quotes. */
  shopper,
  /** The first service. */
  gateway,
  /** The second service. */
  pricing,
  /** The third service. */
  inventory,
  /** The store that the third service reads. */
  index;

  /** The process that this one calls. */
  Part next() {
    return switch (this) {
      case shopper -> gateway;
      case gateway -> pricing;
      case pricing -> inventory;
      case inventory -> index;
      case index -> throw new IllegalStateException("the index calls no other process");
    };
  }

  /** The method of the next process that this one calls. */
  String call() {
    return switch (this) {
      case shopper -> "Gateway.Quote";
      case gateway -> "Pricing.Price";
      case pricing -> "Inventory.Find";
      case inventory -> "Index.Get";
      case index -> throw new IllegalStateException("the index calls no other process");
    };
  }
}
