package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import java.io.IOException;

/** A writer of entries, in a form that {@link EntryReader} reads back. */
interface EntryWriter {
  /** Writes one entry. */
  void write(ByteString key, ByteString value) throws IOException;
}
