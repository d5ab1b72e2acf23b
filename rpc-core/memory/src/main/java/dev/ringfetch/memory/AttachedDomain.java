package dev.ringfetch.memory;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.memory.v1.GrantResponse;
import java.io.IOException;

/** An owner's domain to which a client is attached. Safe for use by many threads. */
final class AttachedDomain implements AutoCloseable {
  private final RemoteDomain domain;
  private final ByteString token;
  private final long timeoutNs;
  private volatile boolean closed;

  AttachedDomain(RemoteDomain domain, ByteString token, long timeoutNs) {
    this.domain = domain;
    this.token = token;
    this.timeoutNs = timeoutNs;
  }

  /** The token of the attachment. */
  ByteString token() {
    return token;
  }

  /** False after the end of the attachment: what is loaded then is granted no more. */
  boolean isOpen() {
    return !closed && !domain.isRevoked();
  }

  /**
   * Attaches the segment of a name.
   *
   * @param length of its memory in bytes.
   * @throws IOException when the segment cannot be reached or has another length.
   */
  synchronized RegionReads reads(GrantResponse grant, int length) throws IOException {
    final int segment = domain.attach(grant.getSegment().toByteArray());
    if (domain.length(segment) != length) {
      throw new IOException(
          "segment has another length: length=" + domain.length(segment) + " expected=" + length);
    }
    return domain.capabilities().loadStore()
        ? new MappedReads(domain.view(segment), this::isOpen)
        : new PostedReads(domain, segment, timeoutNs / 2);
  }

  /** Notes the end of the attachment: nothing is granted any more. */
  void end() {
    closed = true;
  }

  @Override
  public void close() {
    closed = true;
    domain.close();
  }
}
