package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.util.List;

/**
 * A disk with the files of a copy and the names of the original in messages.
 *
 * @param copy the disk in use
 * @param original gives the names for messages
 */
record NamedDisk(Disk copy, Disk original) implements Disk {
  @Override
  public List<String> list() throws IOException {
    return copy.list();
  }

  @Override
  public DiskFile create(String name) throws IOException {
    return copy.create(name);
  }

  @Override
  public DiskFile open(String name) throws IOException {
    return copy.open(name);
  }

  @Override
  public void rename(String from, String to) throws IOException {
    copy.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    copy.delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    copy.syncDirectory();
  }

  @Override
  public String describe(String name) {
    return original.describe(name);
  }
}
