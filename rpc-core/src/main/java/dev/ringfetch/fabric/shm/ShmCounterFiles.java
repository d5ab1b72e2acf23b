package dev.ringfetch.fabric.shm;

import dev.ringfetch.counters.CounterFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The store of counter files beside the memory of sessions, each process's in a {@link
 * ProcessDirectory}, so that the lock and the sweep for sessions' files serve these, too.
 */
public final class ShmCounterFiles implements CounterFiles {
  static final String NAME = "counters";

  /** Creates the store; called by {@link java.util.ServiceLoader}. */
  public ShmCounterFiles() {}

  private static Path root(Path directory, Ownership ownership) {
    return directory.toAbsolutePath().resolve("ringfetch-" + ownership.uid());
  }

  @Override
  public Created create(Path directory) throws IOException {
    final Ownership ownership = Ownership.ofThisProcess();
    final ProcessDirectory own = ProcessDirectory.create(root(directory, ownership), ownership);
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              own.path().resolve(NAME),
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              Ownership.privateFile());
      return new OwnFile(own, channel);
    } finally {
      if (channel == null) {
        own.close();
      }
    }
  }

  @Override
  public List<Path> list(Path directory) throws IOException {
    final Ownership ownership = Ownership.ofThisProcess();
    final Path root = root(directory, ownership);
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      return List.of();
    }
    ownership.checkDirectory(root);
    final List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
      for (final Path entry : entries) {
        final Path file = entry.resolve(NAME);
        if (ProcessDirectory.isName(entry.getFileName().toString())
            && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          files.add(file);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    Collections.sort(files, Comparator.comparingLong(ShmCounterFiles::pid));
    return files;
  }

  private static long pid(Path file) {
    final String name = file.getParent().getFileName().toString();
    return Long.parseLong(name.substring(0, name.indexOf('-')));
  }

  /** The file of this process. */
  private record OwnFile(ProcessDirectory directory, FileChannel channel) implements Created {
    @Override
    public FileChannel channel() {
      return channel;
    }

    @Override
    public void close() {
      Cleanup.close(channel);
      directory.close();
    }
  }
}
