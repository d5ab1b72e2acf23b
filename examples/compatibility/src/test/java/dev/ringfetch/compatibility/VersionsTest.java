package dev.ringfetch.compatibility;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Applications with the versions of gRPC and protobuf that are supported, and with an older one.
 */
@Tag("slow")
class VersionsTest {
  private static final String TOO_OLD =
      "Ringfetch needs gRPC 1.65 or newer: found=1.60.0"
          + " lacks=io.grpc.InternalConfiguratorRegistry";

  @TempDir Path directory;

  private Child application(String grpc, String protobuf) {
    return new Child(directory, grpc, protobuf, "others");
  }

  /** By Ringfetch's builders and by those of grpc-api: two calls over each transport. */
  @ParameterizedTest
  @CsvSource({
    "grpc-1.65, protobuf-3",
    "grpc-1.65, protobuf-4",
    "grpc-1.71, protobuf-3",
    "grpc-1.71, protobuf-4",
    "grpc-1.76, protobuf-3",
    "grpc-1.76, protobuf-4",
    "grpc-newest, protobuf-3",
    "grpc-newest, protobuf-4",
  })
  void ringCarriesCallsOf(String grpc, String protobuf) throws Exception {
    final List<String> lines =
        application(grpc, protobuf)
            .with("-Dringfetch.dropin=true")
            .run(
                0,
                Application.BUILDERS,
                Application.GRPC,
                Application.RING,
                Application.PLAIN,
                Application.RING);
    assertEquals(
        List.of(
            "answers=bytes,text",
            "answers=bytes,text",
            "transport=shm",
            "ring=2 grpc=2",
            "answers=bytes,text",
            "transport=shm",
            "ring=2 grpc=0"),
        lines.stream().filter(line -> line.matches("(answers|transport|ring)=.*")).toList(),
        () -> String.join("\n", lines));
  }

  /** The protobuf that Maven chooses for an application that names none; nothing is set. */
  @Test
  void ringCarriesCallsWithoutTheDropIn() throws Exception {
    final List<String> lines =
        application("grpc-newest", "protobuf-3").run(0, Application.BUILDERS, Application.RING);
    assertTrue(lines.contains("transport=shm"), () -> String.join("\n", lines));
    assertTrue(lines.contains("ring=2 grpc=0"), () -> String.join("\n", lines));
  }

  @Test
  void olderGrpcIsRefusedByTheBuilders() throws Exception {
    final List<String> lines =
        application("grpc-1.60", "protobuf-3").run(1, Application.BUILDERS, Application.GRPC);
    assertTrue(
        lines.stream()
            .anyMatch(line -> line.endsWith("java.lang.IllegalStateException: " + TOO_OLD)),
        () -> String.join("\n", lines));
  }

  @Test
  void olderGrpcStaysAloneWithTheDropIn() throws Exception {
    final List<String> lines =
        application("grpc-1.60", "protobuf-3")
            .with("-Dringfetch.dropin=true")
            .run(0, Application.PLAIN, Application.GRPC);
    assertEquals(
        List.of("WARNING: there are no rings: " + TOO_OLD),
        lines.stream().filter(line -> line.contains("there are no rings")).toList());
    assertTrue(lines.contains("answers=bytes,text"), () -> String.join("\n", lines));
    assertTrue(lines.contains("transport=none of Ringfetch"), () -> String.join("\n", lines));
  }
}
