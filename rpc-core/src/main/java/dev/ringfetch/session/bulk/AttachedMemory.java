package dev.ringfetch.session.bulk;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteMemory;
import org.jspecify.annotations.Nullable;

/**
 * Memory that the peer has registered, as this side reaches it: by loads or by READs.
 *
 * @param region to load from; null where it is read.
 * @param remote to READ from; null where it is loaded from.
 */
public record AttachedMemory(@Nullable MemoryRegion region, @Nullable RemoteMemory remote) {
  /** Length in bytes. */
  public long length() {
    return region == null ? remote.length() : region.length();
  }
}
