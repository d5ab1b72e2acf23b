package dev.ringfetch.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java agent of OpenTelemetry in an application: it adds interceptors to each builder. */
class TracingAgentTest {
  /** A line of the agent's exporter: name, trace, span, and on which side. */
  private static final Pattern SPAN =
      Pattern.compile("LoggingSpanExporter - '(.+)' : (\\w+) (\\w+) (\\w+) ");

  @TempDir Path directory;

  /**
   * Two methods, each called over gRPC and over a ring, of both kinds of builders. The streams over
   * which the rings are agreed on belong to no call of the application: neither side traces or
   * measures them.
   */
  @Test
  void eachCallIsOneTraceWithASpanOfEachSide() throws Exception {
    final List<String> lines =
        new Child(directory, "grpc-newest", "protobuf-3", "others")
            .with(
                "-javaagent:" + agent(),
                "-Dotel.traces.exporter=logging",
                "-Dotel.metrics.exporter=logging",
                "-Dotel.logs.exporter=none",
                "-Dotel.instrumentation.common.default-enabled=false",
                "-Dotel.instrumentation.grpc.enabled=true",
                "-Dotel.resource.providers.os.enabled=false",
                "-Dringfetch.dropin=true")
            .run(
                0,
                Application.BUILDERS,
                Application.GRPC,
                Application.RING,
                Application.PLAIN,
                Application.GRPC,
                Application.RING);
    assertEquals(
        2, lines.stream().filter("ring=2 grpc=2"::equals).count(), () -> String.join("\n", lines));
    final TreeMap<String, List<String>> traces = new TreeMap<>();
    for (final String line : lines) {
      final Matcher span = SPAN.matcher(line);
      if (span.find()) {
        traces.merge(
            span.group(2),
            List.of(span.group(4) + " " + span.group(1)),
            (before, added) -> Stream.concat(before.stream(), added.stream()).sorted().toList());
      }
    }
    for (final String method : List.of("Bytes", "Text")) {
      final String name = "compatibility.Echo/" + method;
      assertEquals(
          4,
          traces.values().stream()
              .filter(List.of("CLIENT " + name, "SERVER " + name)::equals)
              .count(),
          () -> String.join("\n", lines));
    }
    assertEquals(8, traces.size(), () -> String.join("\n", lines));
    assertTrue(
        lines.stream().anyMatch(line -> line.contains("name=rpc.client.duration")),
        () -> String.join("\n", lines));
    assertEquals(
        List.of(),
        lines.stream().filter(line -> line.contains("ringfetch.v1.SessionService")).toList());
  }

  private static Path agent() throws Exception {
    try (Stream<Path> jars = Files.list(Path.of("target", "jars", "agent"))) {
      return jars.findFirst().orElseThrow();
    }
  }
}
