package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.log.GroupSnapshot;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A snapshot that does not fail, and holds nothing. */
record SuppliedSnapshot(Supplier<@Nullable ByteString> pieces) implements GroupSnapshot {
  @Override
  public @Nullable ByteString next() {
    return pieces.get();
  }

  @Override
  public boolean isFailed() {
    return false;
  }

  @Override
  public void close() {}
}
