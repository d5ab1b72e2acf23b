package dev.ringfetch.index.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * An open file of a {@link Disk}. After a failed {@link #sync} nothing is known of what was written
 * since the last one that did not fail: reading it back proves nothing.
 *
 * <p>Used by one thread at a time.
 */
public interface DiskFile extends Closeable {
  /** Length in bytes. */
  long length() throws IOException;

  /** Reads until the buffer is full or the file ends; returns the bytes that it read. */
  int read(long position, ByteBuffer buffer) throws IOException;

  /** Writes what remains of the buffer, and grows the file if it has to. */
  void write(long position, ByteBuffer buffer) throws IOException;

  /** Makes what was written through this file survive a loss of power. */
  void sync() throws IOException;

  @Override
  void close() throws IOException;
}
