package dev.ringfetch.index.cli;

import dev.ringfetch.index.tls.TlsFiles;
import dev.ringfetch.rpc.Authority;
import io.grpc.InsecureServerCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands to a server with mutual TLS. */
@Timeout(300)
final class TlsCommandTest {
  private static final Authority AUTHORITY = new Authority("authority");

  @TempDir Path directory;
  private Path certificate;
  private Path key;
  private Path authorities;

  @BeforeEach
  void write() throws IOException {
    certificate = directory.resolve("cert.pem");
    key = directory.resolve("key.pem");
    authorities = AUTHORITY.write(directory.resolve("ca.pem"));
    AUTHORITY.issue("both sides").write(certificate, key);
  }

  private TestServer start() throws IOException {
    return TestServer.start(directory, new TlsFiles(certificate, key, authorities).server());
  }

  private Outcome run(TestServer server, String... args) {
    return new Invocation(server.target())
        .shm(directory)
        .environment("RINGFETCH_TLS_CERT", certificate.toString())
        .environment("RINGFETCH_TLS_KEY", key.toString())
        .environment("RINGFETCH_TLS_CA", authorities.toString())
        .run(args);
  }

  @Test
  void commandsTakeTheFilesFromOptionsOrTheEnvironment() throws IOException {
    try (TestServer server = start()) {
      server
          .run(
              "put",
              "a",
              "1",
              "--tls-cert=" + certificate,
              "--tls-key=" + key,
              "--tls-ca=" + authorities)
          .done();
      run(server, "get", "a").prints("1");
      run(server, "get", "a", "--direct").prints("1");
      run(server, "cluster").fails(ExitCode.FAILED, "belongs to no cluster"); // it has answered
      new Invocation(server.target())
          .shm(directory)
          .input("get a\ncount\n")
          .run("shell", "--tls-cert=" + certificate, "--tls-key=" + key, "--tls-ca=" + authorities)
          .prints("1", "1");
    }
  }

  @Test
  void aConnectionThatIsRefusedIsToldWithTheRemedy() throws IOException {
    try (TestServer server = start()) {
      for (final String[] command : new String[][] {{"get", "a"}, {"list"}, {"cluster"}}) {
        server.run(command).fails(ExitCode.UNREACHABLE, server.target(), "--tls-ca");
      }
      server
          .run("get", "a", "--tls-ca=" + authorities)
          .fails(ExitCode.UNREACHABLE, server.target(), "--tls-cert");
      final Path other = new Authority("other").write(directory.resolve("other.pem"));
      run(server, "get", "a", "--tls-ca=" + other)
          .fails(ExitCode.UNREACHABLE, server.target(), "certification path", "--tls-ca");
    }
    AUTHORITY.issue("server", "elsewhere.example").write(certificate, key);
    try (TestServer server = start()) {
      run(server, "get", "a").fails(ExitCode.UNREACHABLE, server.target(), "localhost");
    }
    try (TestServer server = TestServer.start(directory, InsecureServerCredentials.create())) {
      run(server, "get", "a").fails(ExitCode.UNREACHABLE, server.target(), "plaintext");
    }
  }

  @Test
  void filesThatCannotBeUsedAreNamed() throws IOException {
    try (TestServer server = start()) {
      server
          .run("get", "a", "--tls-cert=" + certificate)
          .fails(ExitCode.MISUSE, "--tls-cert and --tls-key need each other");
      server
          .run("get", "a", "--tls-ca=" + directory.resolve("none"))
          .fails(ExitCode.FAILED, directory.resolve("none") + ": no such file");
      Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
      run(server, "get", "a").fails(ExitCode.FAILED, "chmod o= " + key);
    }
  }
}
