package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application that serves an index on its own server and reads it directly, in a JVM of its own:
 * compiled as a module, so with exported types alone, and run on the module path and the class
 * path. It is the example of docs/using.md, with the directories as arguments.
 */
@Timeout(120)
class EmbeddingApplicationTest {
  /** What an application needs of this JVM's class path; test libraries are not fit for modules. */
  private static final Pattern NEEDED =
      Pattern.compile(
          "classes|ringfetch-(?!.*-tests).*"
              + "|(agrona|failureaccess|gson|guava|netty-.*|perfmark-api|picocli"
              + "|grpc-(api|context|core|netty|protobuf|protobuf-lite|services|stub|util)"
              + "|proto-google-common-protos|protobuf-java|protobuf-java-util)-\\d.*");

  private static final String DESCRIPTOR =
      """
      module ringfetch.application {
        requires dev.ringfetch.index;
        requires dev.ringfetch.index.reader;
        requires io.grpc.stub;
      }
      """;

  private static final String PROGRAM =
"""
      package ringfetch.application;

      import com.google.protobuf.ByteString;
      import dev.ringfetch.index.direct.DirectContext;
      import dev.ringfetch.index.direct.DirectReader;
      import dev.ringfetch.index.direct.DirectValue;
      import dev.ringfetch.index.service.IndexMemory;
      import dev.ringfetch.index.service.IndexMemoryContext;
      import dev.ringfetch.index.service.IndexServices;
import dev.ringfetch.index.service.Indexes;
      import dev.ringfetch.index.v1.IndexGrpc;
      import dev.ringfetch.index.v1.PutRequest;
      import dev.ringfetch.rpc.RingServer;
      import dev.ringfetch.rpc.RingServerBuilder;
      import io.grpc.ManagedChannel;
      import io.grpc.ManagedChannelBuilder;
      import java.nio.file.Path;
      import java.util.concurrent.TimeUnit;

      public class Main {
        public static void main(String[] args) throws Exception {
          Path shm = Path.of(args[0]);
          IndexMemoryContext memory =
              new IndexMemoryContext()
                  .budget(256L << 20)
                  .shmDirectory(shm)
                  .dataDirectory(Path.of(args[1]));
          try (Indexes indexes = new Indexes(IndexMemory.shared(memory))) {
            RingServer server =
                IndexServices.addTo(RingServerBuilder.forPort(0).shmDirectory(shm), indexes).build().start();
            try {
              ManagedChannel channel =
                  ManagedChannelBuilder.forAddress("localhost", server.getPort())
                      .usePlaintext()
                      .build();
              try (DirectReader reader =
                  DirectReader.open(channel, "", new DirectContext().shmDirectory(shm))) {
                ByteString key = ByteString.copyFromUtf8("java.lang.String");
                IndexGrpc.newBlockingStub(channel)
                    .put(
                        PutRequest.newBuilder()
                            .setKey(key)
                            .setValue(ByteString.copyFromUtf8("java.base"))
                            .build());
                DirectValue value = new DirectValue();
                if (reader.get(key, value)) {
                  System.out.println(
                      value.value().toStringUtf8()
                          + (reader.isDirect() ? " direct" : " by call: " + reader.obstacle()));
                }
              } finally {
                channel.shutdownNow();
              }
            } finally {
              server.shutdownNow().awaitTermination(30, TimeUnit.SECONDS);
            }
          }
        }
      }
""";

  @TempDir static Path module;

  @TempDir Path shm;
  @TempDir Path data;

  @BeforeAll
  static void compile() throws IOException {
    final Path descriptor = Files.writeString(module.resolve("module-info.java"), DESCRIPTOR);
    final Path program = Files.writeString(module.resolve("Main.java"), PROGRAM);
    assertEquals(
        0,
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-d",
                module.toString(),
                "-p",
                path(),
                descriptor.toString(),
                program.toString()));
  }

  private static String path() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> NEEDED.matcher(Path.of(entry).getFileName().toString()).matches())
        .collect(Collectors.joining(File.pathSeparator));
  }

  @Test
  void readsDirectlyOnTheModulePath() throws Exception {
    assertEquals(
        "java.base direct",
        run(
            "--add-modules",
            "ALL-MODULE-PATH",
            "-p",
            module + File.pathSeparator + path(),
            "-m",
            "ringfetch.application/ringfetch.application.Main"));
  }

  @Tag("slow")
  @Test
  void readsDirectlyOnTheClassPath() throws Exception {
    assertEquals(
        "java.base direct",
        run("-cp", module + File.pathSeparator + path(), "ringfetch.application.Main"));
  }

  private String run(String... options) throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of(options));
    command.add(shm.toString());
    command.add(data.toString());
    final Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader output = process.inputReader()) {
      final String lines = output.lines().collect(Collectors.joining("\n"));
      assertEquals(0, process.waitFor(), lines);
      return lines;
    } finally {
      process.destroyForcibly();
    }
  }
}
