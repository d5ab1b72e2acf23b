package dev.ringfetch.index.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A disk whose user ends at a call that is chosen: nothing of that call is done. */
public final class CrashingDisk implements Disk {
  /** The end of the user. */
  public static final class Crash extends Error {
    private static final long serialVersionUID = 1;

    Crash() {
      super("the process ends here");
    }
  }

  private final Disk disk;
  private int left = Integer.MAX_VALUE;

  /** Uses another disk. */
  public CrashingDisk(Disk disk) {
    this.disk = disk;
  }

  /** Ends the user at the call after so many others. */
  public void crashAfter(int others) {
    left = others;
  }

  private Disk call() {
    if (left-- == 0) {
      throw new Crash();
    }
    return disk;
  }

  @Override
  public List<String> list() throws IOException {
    return call().list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return new CrashingFile(call().create(name));
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return new CrashingFile(call().open(name));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    call().rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    call().delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    call().syncDirectory();
  }

  @Override
  public String describe(String name) {
    return disk.describe(name);
  }

  private final class CrashingFile implements DiskFile {
    private final DiskFile file;

    CrashingFile(DiskFile file) {
      this.file = file;
    }

    @Override
    public long length() throws IOException {
      return file.length();
    }

    @Override
    public int read(long position, ByteBuffer buffer) throws IOException {
      return file.read(position, buffer);
    }

    @Override
    public void write(long position, ByteBuffer buffer) throws IOException {
      call();
      file.write(position, buffer);
    }

    @Override
    public void sync() throws IOException {
      call();
      file.sync();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
