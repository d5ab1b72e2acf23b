package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The file of one admission to a domain: a word in shared memory that the peer looks at, under a
 * name that only a token leads to. The peer unlinks the file: of several that present one token,
 * the one whose unlink succeeds is admitted.
 *
 * <pre>
 *   word 0   1: the admission is open   any other value: it was revoked
 * </pre>
 */
final class AdmissionFile {
  private static final int LENGTH = 64;
  private static final int NAME_LENGTH = 16;
  private static final int WORD_OFFSET = 0;
  private static final long OPEN = 1;
  private static final long REVOKED = 2;

  private AdmissionFile() {}

  /** The owner's side: creates the file. */
  static SessionFile create(DomainAddress domain, Path directory, byte[] token) throws IOException {
    final SessionFile file =
        SessionFile.create(
            domain.admission(directory, name(domain, token)), LENGTH, domain.nonce());
    file.region().putLongRelease(WORD_OFFSET, OPEN);
    return file;
  }

  /** Revokes an admission; its peer has not arrived or has mapped the file. */
  static void revoke(SessionFile file) {
    final MemoryRegion region = file.region();
    try {
      region.putLongRelease(WORD_OFFSET, REVOKED);
      region.fullFence();
      region.verify();
    } catch (InternalError e) { // the peer has truncated it, and finds no open admission either
      MemoryFaults.absorb(region, e);
    }
    file.unlink();
    file.close();
  }

  /** The peer's side: takes the admission that a token leads to. */
  static MappedAdmission take(
      DomainAddress domain, Path directory, byte[] token, Ownership ownership) throws IOException {
    final Path path = domain.admission(directory, name(domain, token));
    final MemoryRegion region;
    try (FileChannel channel = SessionFile.open(path, LENGTH, domain.nonce(), ownership)) {
      region = SessionFile.map(channel, LENGTH, MapMode.READ_ONLY);
      Files.delete(path);
    } catch (NoSuchFileException e) {
      throw new IOException("the token is wrong, was used, or was revoked", e);
    }
    return new MappedAdmission(region);
  }

  /** Without the token in it: names of files are read by more than files are. */
  private static String name(DomainAddress domain, byte[] token) {
    try {
      final MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(domain.encode());
      final byte[] hash = digest.digest(token);
      return HexFormat.of().formatHex(Arrays.copyOf(hash, NAME_LENGTH));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has it", e);
    }
  }

  /**
   * The word as the peer sees it.
   *
   * @param region the mapped file.
   */
  record MappedAdmission(MemoryRegion region) {
    /**
     * Returns whether the admission is open: not if its page was taken away.
     *
     * @throws InternalError that of other memory, from which this thread has loaded before.
     */
    boolean isOpen() {
      try {
        if (isWordOpen()) {
          return true;
        }
        region.verify();
      } catch (InternalError e) { // perhaps before the check
        MemoryFaults.absorb(region, e);
        if (isStillOpen()) {
          throw e;
        }
      }
      return false;
    }

    private boolean isWordOpen() {
      return region.getLongAcquire(WORD_OFFSET) == OPEN;
    }

    /** Looks again when no error of another look is left. */
    private boolean isStillOpen() {
      try {
        final boolean isOpen = isWordOpen();
        region.verify();
        return isOpen;
      } catch (InternalError e) {
        MemoryFaults.absorb(region, e);
        return false;
      }
    }
  }
}
