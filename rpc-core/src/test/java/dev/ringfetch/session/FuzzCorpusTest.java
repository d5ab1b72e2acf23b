package dev.ringfetch.session;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.call.CallFuzz;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Base64;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the fuzzer has found, once more: programs that between them reach all that it could reach,
 * and those that have broken something once. One a line, in Base64.
 */
@Timeout(120)
class FuzzCorpusTest {
  private static final Map<Reject, Long> BEFORE = new EnumMap<>(Reject.class);

  @BeforeAll
  static void count() {
    for (final Reject reason : Reject.values()) {
      BEFORE.put(reason, FuzzCounts.rejects(reason));
    }
  }

  private static void replay(String name, Consumer<byte[]> target) throws IOException {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                FuzzCorpusTest.class.getResourceAsStream("/dev/ringfetch/fuzz/" + name),
                US_ASCII))) {
      String line;
      while ((line = lines.readLine()) != null) {
        try {
          target.accept(Base64.getDecoder().decode(line));
        } catch (Throwable t) {
          throw new AssertionError(name + " " + line + ": " + t, t);
        }
      }
    }
  }

  @Test
  void server() throws IOException {
    replay("server", ServerSessionFuzz::fuzzerTestOneInput);
    ServerSessionFuzz.fuzzerTearDown();
  }

  @Test
  void client() throws IOException {
    replay("client", ClientSessionFuzz::fuzzerTestOneInput);
    ClientSessionFuzz.fuzzerTearDown();
  }

  @Test
  void call() throws IOException {
    replay("call", CallFuzz::fuzzerTestOneInput);
    CallFuzz.fuzzerTearDown();
  }

  @AfterAll
  static void everyRuleIsBroken() {
    for (final Reject reason : Reject.values()) {
      assertTrue(FuzzCounts.rejects(reason) > BEFORE.get(reason), reason + " was never the reason");
    }
  }
}
