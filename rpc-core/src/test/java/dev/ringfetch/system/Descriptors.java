package dev.ringfetch.system;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Uses up the file descriptors of this process, and gives them back. */
final class Descriptors {
  private static final Path ANY_FILE = Path.of("/dev/null");
  private static final String CLASS_SUFFIX = ".class";

  private final Deque<Closeable> held = new ArrayDeque<>();

  /**
   * Creates the holder. Loads every class that is a file of its own, since none can be when there
   * are no descriptors: an application's are in jars, which stay open. And logs a line, since the
   * JDK reads a file for the first one: gRPC's acceptor would die of its own warning.
   */
  Descriptors() throws IOException {
    System.getLogger(Descriptors.class.getName()).log(System.Logger.Level.INFO, "first line");
    for (final String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      final Path directory = Path.of(entry);
      if (Files.isDirectory(directory)) {
        try (Stream<Path> files = Files.walk(directory)) {
          for (final Path file : files.toList()) {
            load(directory.relativize(file).toString());
          }
        }
      }
    }
  }

  private static void load(String file) {
    if (file.endsWith(CLASS_SUFFIX)) {
      final String name = file.substring(0, file.length() - CLASS_SUFFIX.length());
      try {
        Class.forName(name.replace('/', '.'), false, Descriptors.class.getClassLoader());
      } catch (ClassNotFoundException | LinkageError e) {
        // Not one that can be needed here.
      }
    }
  }

  static boolean isOrder(String line) {
    return line.startsWith("hold ") || line.equals("release");
  }

  /** {@code hold N}: leaves N descriptors free. {@code release}: all. Says how many are held. */
  int obey(String line) throws IOException {
    if (line.equals("release")) {
      release(0);
    } else if (line.startsWith("hold ")) {
      hold();
      release(held.size() - Integer.parseInt(line.substring("hold ".length())));
    } else {
      throw new IllegalArgumentException("line=" + line);
    }
    return held.size();
  }

  private void hold() throws IOException {
    try {
      while (true) {
        held.push(FileChannel.open(ANY_FILE));
      }
    } catch (IOException e) {
      if (!e.getMessage().toLowerCase(Locale.ROOT).contains("too many open files")) {
        throw e;
      }
    }
  }

  private void release(int left) throws IOException {
    while (held.size() > left) {
      held.pop().close();
    }
  }

  /** Descriptors that a process has open. */
  static List<Path> of(long pid) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return open.toList();
    }
  }
}
