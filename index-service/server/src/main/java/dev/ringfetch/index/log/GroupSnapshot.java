package dev.ringfetch.index.log;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/** A snapshot under way, taken piece after piece. The replica's owner uses it. */
public interface GroupSnapshot {
  /** The next piece: records, each aligned; empty if there is none yet; null at the end. */
  @Nullable ByteString next();

  /** Whether it has failed, as the store serves no more. */
  boolean isFailed();

  /** Ends the snapshot. Idempotent. */
  void close();
}
