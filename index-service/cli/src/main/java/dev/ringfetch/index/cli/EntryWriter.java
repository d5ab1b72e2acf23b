package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** A writer of entries, in a form that {@link EntryReader} reads back. */
interface EntryWriter {
  /** Writes one entry; its deadline is empty if it has none. */
  void write(ByteString key, ByteString value, Optional<Instant> deadline) throws IOException;

  /** Writes what stands behind the last entry. */
  default void end() throws IOException {}
}
