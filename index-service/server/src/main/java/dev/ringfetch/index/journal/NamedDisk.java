package dev.ringfetch.index.journal;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.util.List;

/**
 * A copy of a directory, whose files have the names of the original for people.
 *
 * @param copy that is used
 * @param original of which messages speak
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
