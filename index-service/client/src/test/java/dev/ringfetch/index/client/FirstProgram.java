package dev.ringfetch.index.client;

import java.time.Instant;

/** The first program of the documentation: the server's address is its argument. */
public final class FirstProgram {
  private FirstProgram() {}

  /** Runs the program. */
  public static void main(String[] args) {
    try (IndexClient client = IndexClient.connect(args[0])) {
      HashIndex<String, Instant> seen = client.hash("seen", Codec.string(), Codec.instant());
      seen.put("ada", Instant.parse("1815-12-10T00:00:00Z"));
      System.out.println(seen.access(Access.DIRECT).get("ada"));

      OrderedIndex<String, Long> visits = client.ordered("visits", Codec.string(), Codec.int64());
      visits.increment("ada", 1);
      for (IndexEntry<String, Long> entry : visits.prefix("a").toList()) {
        System.out.println(entry.key() + " " + entry.value());
      }
    }
  }
}
