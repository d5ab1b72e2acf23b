package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.stores.GrowthSteps;
import dev.ringfetch.benchmarks.stores.Mix;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;

/**
 * The growth of an index from {@value #FIRST} entries, in a server of its own: Gets of the first
 * entries one after the other by one client, alone, while another client's batches make the index
 * grow, and while the same batches write the same entries again; then the steps of an owner, by
 * {@link GrowthSteps} in the server's process, idle then.
 */
final class IndexGrowth {
  /** Gets without writes. */
  static final String ALONE = "alone";

  /** Gets beside growth. */
  static final String BESIDE_GROWTH = "beside-growth";

  /** Gets beside as many writes without growth. */
  static final String BESIDE_UPDATES = "beside-updates";

  /** The steps of an owner while its index grows. */
  static final String OWNER = "owner-steps";

  /** The steps of the same owner while it overwrites the same entries. */
  static final String OWNER_UPDATES = "owner-updates";

  /** Entries before the index grows. */
  static final int FIRST = 1_000;

  private final IndexSettings settings;
  private final StoreServers servers;
  private final IndexLog log;

  IndexGrowth(IndexSettings settings, StoreServers servers, IndexLog log) {
    this.settings = settings;
    this.servers = servers;
    this.log = log;
  }

  /** Measures once: each part takes as long as the growth does. */
  void measure() throws IOException {
    final Answer alone;
    final Answer growing;
    final Answer updating;
    final Answer steps;
    try (ChildProcess server = servers.startIndex(settings.growth())) {
      try (ChildProcess reader = client(server);
          ChildProcess writer = client(server)) {
        checked(writer.ask("load", 0, FIRST));
        checked(reader.ask("run", Mix.get, 1, true, settings.warmUp()));
        alone = reader.ask("run", Mix.get, 1, true, settings.timing().millis());
        growing = beside(reader, writer);
        updating = beside(reader, writer);
      }
      steps = server.ask("steps", FIRST, settings.growth());
    }
    log.add(IndexRow.growth, ALONE, alone);
    log.add(IndexRow.growth, BESIDE_GROWTH, growing);
    log.add(IndexRow.growth, BESIDE_UPDATES, updating);
    log.add(IndexRow.growth, OWNER, part(steps, GrowthSteps.GROWTH));
    log.add(IndexRow.growth, OWNER_UPDATES, part(steps, GrowthSteps.UPDATES));
  }

  private ChildProcess client(ChildProcess server) throws IOException {
    return StoreClient.start(
        StoreKind.stub,
        FIRST,
        settings.seed(),
        StoreServers.target(server),
        Side.ring,
        settings.rings(),
        settings.flags());
  }

  /** Gets while the writer writes all further entries. */
  private Answer beside(ChildProcess reader, ChildProcess writer) {
    reader.ask("begin", Mix.get, FIRST, 0);
    final Answer written = checked(writer.ask("load", FIRST, settings.growth()));
    return reader.ask("end").with("writesPerSecond", written.figure("perSecond"));
  }

  private static Answer part(Answer whole, String prefix) {
    final Answer part = new Answer();
    whole
        .fields()
        .forEach(
            (name, value) -> {
              if (name.startsWith(prefix)) {
                final Answer unused = part.with(name.substring(prefix.length()), value);
              }
            });
    return part;
  }

  private static Answer checked(Answer answer) {
    if (answer.count("wrong") > 0) {
      throw new IllegalStateException("wrong answers before growth was measured: " + answer);
    }
    return answer;
  }
}
