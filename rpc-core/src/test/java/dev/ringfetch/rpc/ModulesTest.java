package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
 * An application on the module path, or without optional modules of the JDK, in a JVM of its own.
 */
@Timeout(120)
class ModulesTest {
  /** Of this JVM's class path, all that an application needs. */
  private static final Pattern NEEDED =
      Pattern.compile(
          "classes|ringfetch-proto-.*"
              + "|(agrona|failureaccess|grpc-(api|context|core|netty|protobuf|protobuf-lite|stub|util)"
              + "|guava|netty-.*|perfmark-api|proto-google-common-protos|protobuf-java)-\\d.*");

  private static final String DESCRIPTOR =
      """
      module ringfetch.application {
        requires dev.ringfetch.rpc;
        requires io.grpc.stub;
      }
      """;

  private static final String PROGRAM =
      """
      package ringfetch.application;

      import dev.ringfetch.rpc.*;
      import io.grpc.*;
      import io.grpc.stub.*;
      import java.io.*;
      import java.nio.file.Path;

      public class Main implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
          return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
          try {
            return stream.readAllBytes();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }

        public static void main(String[] args) throws Exception {
          Path directory = Path.of(args[0]);
          MethodDescriptor<byte[], byte[]> method =
              MethodDescriptor.newBuilder(new Main(), new Main())
                  .setType(MethodDescriptor.MethodType.UNARY)
                  .setFullMethodName("Service/Echo")
                  .build();
          RingServer server =
              RingServerBuilder.forPort(0)
                  .shmDirectory(directory)
                  .addService(
                      ServerServiceDefinition.builder("Service")
                          .addMethod(
                              method,
                              ServerCalls.asyncUnaryCall(
                                  (byte[] request, StreamObserver<byte[]> responses) -> {
                                    responses.onNext(request);
                                    responses.onCompleted();
                                  }))
                          .build())
                  .build()
                  .start();
          RingChannel channel =
              RingChannelBuilder.forAddress("localhost", server.getPort())
                  .usePlaintext()
                  .shmDirectory(directory)
                  .build();
          Transport transport;
          long start = System.nanoTime();
          do {
            byte[] answer =
                ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, new byte[3]);
            if (answer.length != 3) {
              throw new AssertionError("length=" + answer.length);
            }
            transport = channel.transport();
          } while ((transport.reason().equals("a session is being opened")
                  || transport.reason().equals("no call has asked for a ring yet"))
              && System.nanoTime() - start < 30_000_000_000L);
          System.out.println("server " + server.fabrics());
          System.out.println(transport.name() + (transport.isRing() ? "" : " " + transport.reason()));
          System.exit(0);
        }
      }
      """;

  @TempDir static Path module;

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

  private static String run(Path directory, String... options) throws Exception {
    final List<String> command = new ArrayList<>(List.of(options));
    command.add(directory.toString());
    return JavaProcess.run(command);
  }

  /**
   * The graph has the modules of the path, and of the JDK only those that these require. gRPC says
   * of none what it requires (Guava, netty), so all are named.
   */
  @Test
  void namedModulesHaveRings(@TempDir Path directory) throws Exception {
    assertEquals(
        "server shm\nshm",
        run(
            directory,
            "--add-modules",
            "ALL-MODULE-PATH",
            "-p",
            module + File.pathSeparator + path(),
            "-m",
            "ringfetch.application/ringfetch.application.Main"));
  }

  @Test
  void withoutTheModuleThatTellsPeersThereIsAReason(@TempDir Path directory) throws Exception {
    final String output = onClassPath(directory, "java.base,java.logging");
    assertTrue(output.startsWith("server none (shm: shm needs the Java module jdk.net"), output);
    assertTrue(output.contains("\ngrpc shm: shm needs the Java module jdk.net"), output);
  }

  /** Neither java.management, java.naming nor jdk.unsupported, which those use that we stand on. */
  @Tag("slow")
  @Test
  void noOtherModuleOfTheJdkIsNeeded(@TempDir Path directory) throws Exception {
    assertEquals("server shm\nshm", onClassPath(directory, "java.base,java.logging,jdk.net"));
  }

  private static String onClassPath(Path directory, String modules) throws Exception {
    return run(
        directory,
        "--limit-modules",
        modules,
        "-cp",
        module + File.pathSeparator + path(),
        "ringfetch.application.Main");
  }
}
