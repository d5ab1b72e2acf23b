package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The domains that a dead process left in its directory.
 *
 * <table>
 * <caption>What becomes of a domain's files</caption>
 * <tr><th>its gate</th><th>its files</th></tr>
 * <tr><td>names its epoch</td><td>stay</td></tr>
 * <tr><td>names another epoch, or is closed</td><td>are truncated and unlinked: readers that have
 *     them mapped look at the gate; not truncated where peers may post atomics, which do not survive
 *     that</td></tr>
 * <tr><td>is the domain's own, is missing or cannot be read</td><td>are unlinked: no successor can
 *     close it, and the memory goes with the last reader</td></tr>
 * </table>
 */
final class DeadDomains {
  private enum Fate {
    STAY,
    UNLINK,
    TRUNCATE
  }

  private static final Logger LOGGER = System.getLogger(DeadDomains.class.getName());
  private static final Pattern NAME = Pattern.compile("(domain-[0-9]{1,10})(-.+)?");

  private final Map<String, Fate> fates = new HashMap<>(); // by the name of the record

  /** Decides about every domain that has a record among the entries of the directory. */
  DeadDomains(List<Path> entries) {
    for (final Path entry : entries) {
      final Matcher matcher = NAME.matcher(entry.getFileName().toString());
      if (matcher.matches() && matcher.group(2) == null) {
        fates.put(matcher.group(1), fate(entry));
      }
    }
  }

  private static Fate fate(Path path) {
    try {
      if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
        return Fate.UNLINK;
      }
      final DomainRecord record = DomainRecord.read(path);
      if (record.gate().isEmpty()) {
        return Fate.UNLINK;
      }
      if (GateView.open(Path.of(record.gate())).isOpen(record.epoch())) {
        return Fate.STAY;
      }
      return record.rights() == Rights.ATOMIC ? Fate.UNLINK : Fate.TRUNCATE;
    } catch (IOException | InvalidPathException e) {
      LOGGER.log(Level.DEBUG, "no gate keeps " + path, e);
      return Fate.UNLINK;
    }
  }

  /** Returns the entries that stay, and truncates those whose memory goes at once. */
  List<Path> retained(List<Path> entries) {
    final List<Path> staying = new ArrayList<>();
    for (final Path entry : entries) {
      final Matcher matcher = NAME.matcher(entry.getFileName().toString());
      final Fate fate = matcher.matches() ? fates.get(matcher.group(1)) : null;
      if (fate == Fate.STAY) {
        staying.add(entry);
      } else if (fate == Fate.TRUNCATE
          && matcher.group(2) != null
          && matcher.group(2).startsWith("-segment-")) {
        truncate(entry);
      }
    }
    return staying;
  }

  private static void truncate(Path path) {
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (FileChannel channel =
        FileChannel.open(path, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
      channel.truncate(0);
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "its pages wait for the last reader: " + path, e);
    }
  }
}
