package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * docs/monitoring.md, the board and the alerts, compared with a scrape of a server process: a node
 * that keeps an index on disk.
 */
@Timeout(300)
final class MonitoringTest {
  private static final Path DOCS = Path.of(System.getProperty("basedir", "")).resolve("../../docs");
  private static final String INDEX = "orders";
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final int CALLS = 40;

  private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) (\\S+)");
  private static final Pattern SAMPLE = Pattern.compile("([a-z][a-z0-9_]*)(\\{.*})? (\\S+)");

  /** A metric in an expression: those of this page, and of Micrometer's. */
  private static final Pattern NAMED =
      Pattern.compile("\\b(ringfetch|disk|jvm|process|system)_[a-z0-9_]+\\b");

  @TempDir Path directory;
  @TempDir Path shm;

  @Test
  void pageBoardAndAlertsNameTheMetricsThatAreScraped() throws Exception {
    final String scrape = scrape();
    final Map<String, String> types = new TreeMap<>();
    scrape
        .lines()
        .map(TYPE::matcher)
        .filter(Matcher::matches)
        .forEach(line -> types.put(line.group(1), line.group(2)));
    final Map<String, String> ofIndex = new TreeMap<>(types);
    ofIndex.keySet().removeIf(name -> !name.startsWith("ringfetch_index_"));
    assertEquals(rows(DOCS.resolve("monitoring.md")), ofIndex);
    for (final String name : types.keySet()) {
      assertTrue(
          name.matches("(disk|jvm|process|system|ringfetch_[a-z]+s|ringfetch_index)_.*"), name);
    }
    final Set<String> samples = new TreeSet<>();
    scrape
        .lines()
        .map(SAMPLE::matcher)
        .filter(Matcher::matches)
        .forEach(line -> samples.add(line.group(1)));
    for (final String file : List.of("grafana.json", "alerts.yml")) {
      final Set<String> named = new TreeSet<>();
      final Matcher matcher =
          NAMED.matcher(Files.readString(DOCS.resolve("operations").resolve(file)));
      while (matcher.find()) {
        named.add(matcher.group());
      }
      assertTrue(named.size() > 10, () -> file + ": " + named);
      named.removeAll(samples);
      assertEquals(Set.of(), named, file);
    }
    assertTrue(scrape.contains("ringfetch_index_entries{index=\"" + INDEX + "\"} 1.0\n"), scrape);
    assertTrue(
        scrape.contains(
            "ringfetch_index_calls_seconds_count{method=\"Get\",service=\""
                + IndexGrpc.SERVICE_NAME
                + "\",status=\"OK\"} "
                + CALLS
                + "\n"),
        scrape);
  }

  @Test
  void thePageHasEachAlert() throws Exception {
    final String page = Files.readString(DOCS.resolve("monitoring.md"));
    final Matcher alerts =
        Pattern.compile("- alert: (\\w+)")
            .matcher(Files.readString(DOCS.resolve("operations/alerts.yml")));
    int found = 0;
    while (alerts.find()) {
      assertTrue(page.contains(alerts.group(1)), alerts.group(1));
      found++;
    }
    assertTrue(found > 10, "alerts: " + found);
  }

  @Test
  void theBoardIsJsonWithAnExpressionForEachPanel() throws Exception {
    final JsonElement board =
        JsonParser.parseString(Files.readString(DOCS.resolve("operations/grafana.json")));
    int panels = 0;
    for (final JsonElement each : board.getAsJsonObject().getAsJsonArray("panels")) {
      if (!each.getAsJsonObject().get("type").getAsString().equals("row")) {
        assertTrue(each.getAsJsonObject().getAsJsonArray("targets").size() > 0, each::toString);
        panels++;
      }
    }
    assertTrue(panels > 10, "panels: " + panels);
  }

  /** The first two cells of the page's rows about metrics of the index. */
  private static Map<String, String> rows(Path page) throws IOException {
    final Map<String, String> rows = new TreeMap<>();
    for (final String line : Files.readAllLines(page)) {
      if (line.startsWith("| `ringfetch_index_")) {
        final List<String> cells = Arrays.stream(line.split("\\|", -1)).map(String::strip).toList();
        assertEquals(6, cells.size(), line);
        rows.put(cells.get(1).replace("`", ""), cells.get(2));
      }
    }
    return rows;
  }

  private String scrape() throws Exception {
    try (ServerProcess server =
        ServerProcess.start(
            "--port=0",
            "--metrics=0",
            "--memory=64m",
            "--shm-directory=" + shm,
            "--data=" + directory.resolve("data"))) {
      final int port = server.awaitPort();
      String line;
      do {
        line = server.readLine();
      } while (!line.startsWith("metrics: "));
      final URI metrics = URI.create(line.replaceFirst("metrics: ", ""));
      final ManagedChannel channel =
          RingChannelBuilder.forAddress("localhost", port).usePlaintext().shmDirectory(shm).build();
      try {
        use(channel);
      } finally {
        channel.shutdownNow();
      }
      assertEquals("ready\n", get(metrics.resolve("/health/ready")));
      return get(metrics);
    }
  }

  private static String get(URI address) throws Exception {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(60)).build(),
            BodyHandlers.ofString())
        .body();
  }

  /** Makes calls over a ring. */
  private static void use(ManagedChannel channel) {
    final IndexGrpc.IndexBlockingStub index =
        IndexGrpc.newBlockingStub(channel).withDeadlineAfter(120, TimeUnit.SECONDS);
    final var created =
        IndexAdminGrpc.newBlockingStub(channel)
            .withDeadlineAfter(60, TimeUnit.SECONDS)
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex(INDEX)
                    .setDurability(Durability.DISK)
                    .build());
    assertTrue(created.getCreated());
    final PutRequest put = PutRequest.newBuilder().setIndex(INDEX).setKey(KEY).build();
    boolean hasPut = false;
    while (!hasPut) { // the index has no leader at first
      try {
        final var unused = index.put(put);
        hasPut = true;
      } catch (StatusRuntimeException e) {
        assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode(), e::toString);
      }
    }
    for (int i = 0; i < CALLS; i++) {
      assertTrue(index.get(GetRequest.newBuilder().setIndex(INDEX).setKey(KEY).build()).hasEntry());
    }
  }
}
