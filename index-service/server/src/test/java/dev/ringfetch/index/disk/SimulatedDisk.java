package dev.ringfetch.index.disk;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * A disk that loses what was not synced when the power goes: any sectors of it, or parts of the
 * changes of the directory; or has it in the place of something else that was not synced. Any call
 * can be made to fail. Its content survives in {@link #powerCut}, its user's handles do not.
 */
public final class SimulatedDisk implements Disk {
  private static final int SECTOR = 512;

  /** What a call fails with. */
  public enum Fault {
    /** The device reports an error; what was written since the last sync is lost from then on. */
    IO_ERROR,
    /** No room is left: only calls that need any fail. */
    FULL
  }

  private static final class Inode {
    byte[] content = new byte[0];

    /** What a loss of power leaves. */
    byte[] durable = new byte[0];

    /** Writes since the last sync: position and length. */
    final List<long[]> writes = new ArrayList<>();
  }

  private record Change(String name, Inode inode) {} // null: removed

  private final Map<String, Inode> files = new TreeMap<>();
  private final Map<String, Inode> durableFiles = new TreeMap<>();
  private final List<Change> changes = new ArrayList<>();
  private final Map<String, Long> met = new TreeMap<>();
  private int generation;
  private int calls;
  private int failingCall = -1;
  private Fault fault;
  private boolean full;
  private int syncs;
  private Runnable onWrite = () -> {};

  /** Makes the call after so many others fail. */
  public void failAfter(int others, Fault with) {
    failingCall = calls + others;
    fault = with;
  }

  /** Whether a call that needs room fails. */
  public void full(boolean isFull) {
    full = isFull;
  }

  /** Number of calls that could have failed. */
  public int calls() {
    return calls;
  }

  /** Runs something once, in the midst of the next write. */
  public void onNextWrite(Runnable action) {
    onWrite = action;
  }

  private void count(String what) {
    met.merge(what, 1L, Long::sum);
  }

  /** How often calls have failed, by error and call, and what losses of power have left. */
  public Map<String, Long> met() {
    return Map.copyOf(met);
  }

  /** Names of all files. */
  public List<String> names() {
    return List.copyOf(files.keySet());
  }

  /** Number of syncs of files. */
  public int syncs() {
    return syncs;
  }

  /** Ends the process that uses the disk: its handles fail from now on, nothing is lost. */
  public void kill() {
    generation++;
    failingCall = -1;
    full = false;
  }

  /** Takes the power away: any part of what was not synced is lost. */
  public void powerCut(Random random) {
    kill();
    count("power cuts");
    final int survived = random.nextInt(changes.size() + 1);
    if (survived < changes.size()) {
      count("changes of the directory lost");
    }
    for (final Change change : changes.subList(0, survived)) {
      apply(change);
    }
    changes.clear();
    files.clear();
    files.putAll(durableFiles);
    for (final Inode inode : files.values()) {
      for (final long[] write : inode.writes) {
        persistSome(inode, (int) write[0], (int) write[1], random);
      }
      if (inode.writes.size() > 1 && random.nextInt(4) == 0) {
        misdirect(inode, random);
      }
      inode.writes.clear();
      inode.content = inode.durable.clone();
    }
  }

  private void apply(Change change) {
    if (change.inode == null) {
      durableFiles.remove(change.name);
    } else {
      durableFiles.put(change.name, change.inode);
    }
  }

  private void persistSome(Inode inode, int position, int length, Random random) {
    final int all = random.nextInt(3); // none, some, all
    if (all < 2) {
      count(all == 0 ? "writes lost" : "writes torn");
    }
    for (int at = position; at < position + length; ) {
      final int end = Math.min(position + length, (at / SECTOR + 1) * SECTOR);
      if (all == 2 || (all == 1 && random.nextBoolean())) {
        if (inode.durable.length < end) {
          inode.durable = Arrays.copyOf(inode.durable, end);
        }
        System.arraycopy(
            inode.content, at, inode.durable, at, Math.min(end, inode.content.length) - at);
      }
      at = end;
    }
  }

  /** Leaves one of the writes that were not synced in the place of another one. */
  private void misdirect(Inode inode, Random random) {
    final long[] from = inode.writes.get(random.nextInt(inode.writes.size()));
    final long[] to = inode.writes.get(random.nextInt(inode.writes.size()));
    if (from[0] == to[0]) {
      return;
    }
    count("writes misdirected");
    final int length = (int) Math.min(from[1], to[1]);
    final int end = (int) to[0] + length;
    if (inode.durable.length < end) {
      inode.durable = Arrays.copyOf(inode.durable, end);
    }
    System.arraycopy(inode.content, (int) from[0], inode.durable, (int) to[0], length);
  }

  /** The content of a file as it is now; changes of the array change the file, synced. */
  public byte[] content(String name) {
    final Inode inode = files.get(name);
    inode.writes.clear();
    inode.durable = inode.content;
    return inode.content;
  }

  /** Replaces the content of a file, synced. */
  public void content(String name, byte[] content) {
    final Inode inode = new Inode();
    inode.content = content;
    inode.durable = content;
    files.put(name, inode);
    durableFiles.put(name, inode);
  }

  /** A disk with the same files. */
  public SimulatedDisk copy() {
    final SimulatedDisk copy = new SimulatedDisk();
    files.forEach((name, inode) -> copy.content(name, inode.content.clone()));
    return copy;
  }

  private void check(String call, boolean needsRoom, int opened) throws IOException {
    if (opened != generation) {
      throw new IllegalStateException("a handle of a process that has ended");
    }
    if (needsRoom && full) {
      count("ENOSPC " + call);
      throw new IOException("no space left on the simulated disk");
    }
    if (calls++ == failingCall) {
      if (fault == Fault.IO_ERROR) {
        count("EIO " + call);
        throw new IOException("input/output error of the simulated disk");
      }
      if (needsRoom) {
        count("ENOSPC " + call);
        throw new IOException("no space left on the simulated disk");
      }
    }
  }

  @Override
  public List<String> list() throws IOException {
    check("list", false, generation);
    return List.copyOf(files.keySet());
  }

  @Override
  public DiskFile create(String name) throws IOException {
    check("create", true, generation);
    if (files.containsKey(name)) {
      throw new FileAlreadyExistsException(name);
    }
    final Inode inode = new Inode();
    files.put(name, inode);
    changes.add(new Change(name, inode));
    return new SimulatedFile(inode, generation);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    check("open", false, generation);
    final Inode inode = files.get(name);
    if (inode == null) {
      throw new NoSuchFileException(name);
    }
    return new SimulatedFile(inode, generation);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    check("rename", false, generation);
    final Inode inode = files.remove(from);
    if (inode == null) {
      throw new FileNotFoundException(from);
    }
    files.put(to, inode);
    changes.add(new Change(to, inode));
    changes.add(new Change(from, null));
  }

  @Override
  public void delete(String name) throws IOException {
    check("delete", false, generation);
    if (files.remove(name) != null) {
      changes.add(new Change(name, null));
    }
  }

  @Override
  public void syncDirectory() throws IOException {
    check("sync-directory", false, generation);
    changes.forEach(this::apply);
    changes.clear();
  }

  @Override
  public String describe(String name) {
    return "simulated/" + name;
  }

  private final class SimulatedFile implements DiskFile {
    private final Inode inode;
    private final int opened;

    SimulatedFile(Inode inode, int opened) {
      this.inode = inode;
      this.opened = opened;
    }

    @Override
    public long length() throws IOException {
      check("length", false, opened);
      return inode.content.length;
    }

    @Override
    public int read(long position, ByteBuffer buffer) throws IOException {
      check("read", false, opened);
      final int length =
          (int) Math.max(0, Math.min(buffer.remaining(), inode.content.length - position));
      if (length > 0) {
        buffer.put(inode.content, (int) position, length);
      }
      return length;
    }

    @Override
    public void write(long position, ByteBuffer buffer) throws IOException {
      final Runnable action = onWrite;
      onWrite = () -> {};
      action.run();
      final int end = (int) position + buffer.remaining();
      check("write", end > inode.content.length, opened);
      if (inode.content.length < end) {
        final boolean shared = inode.content == inode.durable;
        inode.content = Arrays.copyOf(inode.content, end);
        if (shared) {
          inode.durable = inode.durable.clone();
        }
      } else if (inode.content == inode.durable) {
        inode.durable = inode.durable.clone();
      }
      inode.writes.add(new long[] {position, buffer.remaining()});
      buffer.get(inode.content, (int) position, buffer.remaining());
    }

    @Override
    public void sync() throws IOException {
      try {
        check("sync", false, opened);
      } catch (IOException e) {
        inode.writes.clear(); // the kernel takes them for written
        throw e;
      }
      syncs++;
      if (inode.content != inode.durable) {
        if (inode.durable.length < inode.content.length) {
          inode.durable = Arrays.copyOf(inode.durable, inode.content.length);
        }
        for (final long[] write : inode.writes) {
          System.arraycopy(
              inode.content, (int) write[0], inode.durable, (int) write[0], (int) write[1]);
        }
      }
      inode.writes.clear();
    }

    @Override
    public void close() {
      // nothing is lost by it
    }
  }
}
