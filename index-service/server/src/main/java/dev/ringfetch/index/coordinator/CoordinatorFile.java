package dev.ringfetch.index.coordinator;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.SnapshotDescriptor;
import dev.ringfetch.index.v1.Configuration;
import dev.ringfetch.index.v1.CoordinatorState;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Member;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The file of a cluster without ZooKeeper, always replaced as a whole: a line of text, and the
 * {@link CoordinatorState}.
 *
 * <pre>
 *   ringfetch-coordinator 1 length 0000004711 crc32c 0a1b2c3d
 * </pre>
 *
 * <p>Length and checksum are those of the bytes behind the line.
 */
public final class CoordinatorFile {
  /** Name of the file. */
  public static final String NAME = "coordinator";

  private static final Pattern HEADER =
      Pattern.compile("ringfetch-coordinator ([0-9]+) length ([0-9]{10}) crc32c ([0-9a-f]{8})\n");
  private static final String VERSION = "1";
  private static final int HEADER_LENGTH = header(0, 0).length;

  private static final String REMEDY =
      "put the newest one back; or start once with --adopt-copy (adoptCopy(true) in a program),"
          + " which keeps the journal's indexes, with new incarnations";

  private final Disk disk;

  CoordinatorFile(Disk disk) {
    this.disk = disk;
  }

  /**
   * Copies the file of a data directory that may be in use, if it has one.
   *
   * @throws IOException if it is damaged, or a disk fails, with the reason as its message
   */
  @SuppressWarnings("exports") // for this module
  public static void copy(Disk from, Disk to) throws IOException {
    final CoordinatorState state = new CoordinatorFile(from).read();
    if (state != null) {
      new CoordinatorFile(to).write(state);
    }
  }

  /**
   * As {@link #check(CoordinatorState, boolean, Collection)}, of a data directory whose node is the
   * only one, and which is in use by no server.
   */
  public static void check(Path data, Collection<GroupState> ofJournal) throws IOException {
    final CoordinatorFile file = new CoordinatorFile(HostDisk.readOnly(data));
    file.check(file.read(), true, ofJournal);
  }

  /** The cluster to which a data directory moves that was alone; 0: it does not. */
  public static long movesTo(Path data) throws IOException {
    final CoordinatorState state = new CoordinatorFile(HostDisk.readOnly(data)).read();
    return state == null ? 0 : state.getMove().getCluster();
  }

  /**
   * Checks that the file is as new as the journal of its directory: it has the groups that the
   * journal has.
   *
   * @param found state of the file; null if there is none
   * @param wasThere whether the directory had the file
   * @throws IOException if not, with the reason and the remedy as its message
   */
  void check(@Nullable CoordinatorState found, boolean wasThere, Collection<GroupState> ofJournal)
      throws IOException {
    if (found == null && wasThere) {
      throw refused("the coordinator's file is missing; " + REMEDY, "");
    }
    final CoordinatorState state =
        found == null ? CoordinatorState.getDefaultInstance() : found; // a new directory's
    final Set<Long> known = new HashSet<>(Coordinator.ids(state.getDropped()));
    state.getGroupsList().forEach(group -> known.add(group.getGroup()));
    for (final GroupState group : ofJournal) {
      if (!known.contains(group.getGroup())) {
        throw refused(
            "the coordinator's file is older than the journal, which has one index more; " + REMEDY,
            String.format("index=%s group=%016x", group.getIndex(), group.getGroup()));
      }
    }
  }

  /**
   * Checks that no process has served a group in memory since the one whose orderly end has left
   * it: only then is another process established, as one that is alone removes the file before.
   *
   * @param state of the file; null if there is none
   * @param stopped the processes that have left all of a group, by the groups
   * @throws IOException if one has: the file was put back; with the remedy as its message
   */
  void checkStops(@Nullable CoordinatorState state, Map<Long, List<Member>> stopped)
      throws IOException {
    final CoordinatorState known = state == null ? CoordinatorState.getDefaultInstance() : state;
    for (final GroupState group : known.getGroupsList()) {
      final Configuration base = group.hasEstablished() ? group.getEstablished() : group.getWon();
      final List<Member> left = stopped.get(group.getGroup());
      if (left != null && left.stream().noneMatch(base.getMembersList()::contains)) {
        throw new IOException(
            "the file that an orderly end has left of an index at level memory was put back: the"
                + " index was served since, and ended with its process; delete the file to give the"
                + " index up, after 'index salvage', which reads it, if it is to be kept: index="
                + group.getIndex()
                + " file="
                + disk.describe(SnapshotDescriptor.stopName(group.getGroup())));
      }
    }
  }

  /**
   * Reads the state; null if there is no file.
   *
   * @throws IOException if it is damaged, with the reason as its message
   */
  @Nullable CoordinatorState read() throws IOException {
    final ByteBuffer bytes;
    try (DiskFile file = disk.open(NAME)) {
      bytes = ByteBuffer.allocate(Math.toIntExact(file.length()));
      file.read(0, bytes);
    } catch (NoSuchFileException e) {
      return null;
    }
    disk.syncDirectory(); // a loss of power must not bring back what was there before
    final int begin = Math.min(HEADER_LENGTH, bytes.position());
    final Matcher header = HEADER.matcher(new String(bytes.array(), 0, begin, ISO_8859_1));
    if (!header.matches()) {
      throw refused(
          "not the file of a coordinator, or a damaged one", "length=" + bytes.position());
    }
    if (!header.group(1).equals(VERSION)) {
      throw refused("of another version of this program", "version=" + header.group(1));
    }
    final byte[] content = Arrays.copyOfRange(bytes.array(), begin, bytes.position());
    if (content.length != Long.parseLong(header.group(2))) {
      throw refused("damaged", "length=" + content.length + " expected=" + header.group(2));
    }
    if (crc(content) != Integer.parseUnsignedInt(header.group(3), 16)) {
      throw refused(
          "damaged", String.format("crc32c=%08x expected=%s", crc(content), header.group(3)));
    }
    try {
      return CoordinatorState.parseFrom(content);
    } catch (InvalidProtocolBufferException e) {
      throw refused("damaged", "state=" + e.getMessage());
    }
  }

  /**
   * Whether the next process needs the changes of a state. It needs none of configurations that
   * come after the first: nobody else leads. If the group is on the disk, that has the epochs, and
   * all records in whatever process. If it is in memory, it ends with this process unless that ends
   * in order, and {@linkplain LocalCoordinator.Truth#flush flushes} the state before.
   */
  static boolean needs(CoordinatorState before, CoordinatorState after) {
    if (after.getGroupsCount() != before.getGroupsCount()
        || !after.getDropped().equals(before.getDropped())) {
      return true;
    }
    for (int i = 0; i < after.getGroupsCount(); i++) {
      final GroupState now = after.getGroups(i);
      final GroupState then = before.getGroups(i);
      if (!now.getRecovery().equals(then.getRecovery())
          || now.hasEstablished() != then.hasEstablished()) {
        return true;
      }
    }
    return false;
  }

  /** Removes the file, durably; first what a process has left that ended while it replaced it. */
  void remove() throws IOException {
    disk.delete(NAME + Disk.UNFINISHED);
    disk.delete(NAME);
    disk.syncDirectory();
  }

  /** Replaces the state; after a loss of power the file has either the old or the new one. */
  void write(CoordinatorState state) throws IOException {
    final byte[] content = state.toByteArray();
    final byte[] header = header(content.length, crc(content));
    final ByteBuffer bytes =
        ByteBuffer.allocate(header.length + content.length).put(header).put(content);
    disk.replace(NAME, bytes.flip());
  }

  private static byte[] header(int length, int crc) {
    return String.format(
            Locale.ROOT,
            "ringfetch-coordinator %s length %010d crc32c %08x\n",
            VERSION,
            length,
            crc)
        .getBytes(ISO_8859_1);
  }

  private static int crc(byte[] content) {
    final CRC32C checksum = new CRC32C();
    checksum.update(content);
    return (int) checksum.getValue();
  }

  private IOException refused(String reason, String values) {
    return new IOException(
        reason + ": " + (values.isEmpty() ? "" : values + " ") + "file=" + disk.describe(NAME));
  }
}
