package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The removal of the files that dead processes left below a root. Any number of processes may sweep
 * one root at the same time, and processes come and go meanwhile: a file that vanishes during the
 * sweep is not a failure.
 */
final class Sweep {
  private static final Logger LOGGER = System.getLogger(Sweep.class.getName());

  /** One sweep of a root at a time: two would conflict in the lock table of the JVM. */
  private static final Map<Path, ReentrantLock> SWEEPING = new ConcurrentHashMap<>();

  /**
   * Lock files without a liveness socket that this JVM has turned out to have locked through
   * another class loader. Their channels stay open for good, since closing one would drop that
   * lock.
   */
  private static final Map<String, FileChannel> HELD_ELSEWHERE_IN_JVM = new ConcurrentHashMap<>();

  private Sweep() {}

  /** Sweeps a root that has been checked to be this user's, or does nothing where there is none. */
  static void run(Path root) {
    try {
      final ReentrantLock sweeping =
          SWEEPING.computeIfAbsent(root.toRealPath(), absent -> new ReentrantLock());
      sweeping.lock();
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
        for (final Path entry : entries) {
          sweepEntry(root, entry.getFileName().toString());
        }
      } finally {
        sweeping.unlock();
      }
    } catch (NoSuchFileException e) {
      LOGGER.log(Level.DEBUG, "nothing to sweep: there is no {0}", root);
    } catch (IOException | DirectoryIteratorException e) {
      LOGGER.log(Level.WARNING, "cannot sweep " + root, e);
    }
  }

  private static void sweepEntry(Path root, String entry) {
    if (entry.endsWith(ProcessDirectory.LOCK_SUFFIX)) {
      final String name =
          entry.substring(0, entry.length() - ProcessDirectory.LOCK_SUFFIX.length());
      if (ProcessDirectory.isName(name)) {
        sweepIfDead(root, name);
      }
    } else if (ProcessDirectory.isName(entry)
        && LivenessSocket.probe(root.resolve(entry)) == LivenessSocket.State.ALIVE) {
      LOGGER.log(Level.DEBUG, "{0} has no lock, but lives", entry);
    } else if (ProcessDirectory.isName(entry)
        && !Files.exists(
            root.resolve(entry + ProcessDirectory.LOCK_SUFFIX), LinkOption.NOFOLLOW_LINKS)) {
      // Locks come first and go last: a directory without one has no owner.
      deleteDead(root.resolve(entry));
    }
  }

  private static void sweepIfDead(Path root, String name) {
    switch (LivenessSocket.probe(root.resolve(name))) {
      case ALIVE -> {} // to look at the lock could drop it
      case DEAD -> {
        if (deleteDead(root.resolve(name))) {
          Cleanup.delete(root.resolve(name + ProcessDirectory.LOCK_SUFFIX));
        }
      }
      case NONE -> sweepIfUnlocked(root, name);
    }
  }

  private static void sweepIfUnlocked(Path root, String name) {
    if (ProcessDirectory.isHeldHere(name) || HELD_ELSEWHERE_IN_JVM.containsKey(name)) {
      return;
    }
    final Path lockPath = root.resolve(name + ProcessDirectory.LOCK_SUFFIX);
    if (!Files.isRegularFile(lockPath, LinkOption.NOFOLLOW_LINKS)) {
      return; // not one of ours: to open a pipe would wait for its other end
    }
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(lockPath, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
      if (channel.tryLock() != null && deleteDead(root.resolve(name))) {
        Cleanup.delete(lockPath);
      }
    } catch (NoSuchFileException e) {
      LOGGER.log(Level.DEBUG, "{0} went while it was looked at", lockPath);
    } catch (OverlappingFileLockException e) {
      HELD_ELSEWHERE_IN_JVM.put(name, channel);
      channel = null;
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "cannot sweep " + lockPath, e);
    } finally {
      Cleanup.close(channel);
    }
  }

  /**
   * Deletes the directory of a dead process, except for memory that may still be read: that stays,
   * with the socket from which a later sweep learns that the process is dead.
   *
   * @return false when something stays.
   */
  private static boolean deleteDead(Path directory) {
    final List<Path> entries = list(directory);
    final List<Path> staying = new DeadDomains(entries).retained(entries);
    for (final Path entry : entries) {
      final boolean isLiveness = entry.getFileName().toString().equals(LivenessSocket.NAME);
      if (!staying.contains(entry) && !(isLiveness && !staying.isEmpty())) {
        Cleanup.delete(entry);
      }
    }
    if (staying.isEmpty() && Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      Cleanup.delete(directory);
    }
    return staying.isEmpty();
  }

  /** Deletes a process directory, which is flat, and what is in it. */
  static void deleteDirectory(Path directory) {
    list(directory).forEach(Cleanup::delete);
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      Cleanup.delete(directory);
    }
  }

  private static List<Path> list(Path directory) {
    final List<Path> entries = new ArrayList<>();
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return entries;
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(entries::add);
    } catch (NoSuchFileException e) {
      LOGGER.log(Level.DEBUG, "{0} went while it was looked at", directory);
    } catch (IOException | DirectoryIteratorException e) {
      LOGGER.log(Level.WARNING, "cannot list " + directory, e);
    }
    return entries;
  }
}
