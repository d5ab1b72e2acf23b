package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.Compressor;
import io.grpc.Decompressor;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.Status;

/**
 * The negotiated settings of a server call, known before there are messages: compression and
 * authority. It is a superclass instead of a separate object, so that a call allocates nothing for
 * it.
 */
abstract class EncodedCall<ReqT, RespT> extends ServerCall<ReqT, RespT> {
  final CallAcceptor acceptor;

  /** The compression; null while messages are not compressed. */
  Encoding encoding;

  /** Owned by the handler. */
  boolean headersSent;

  private String authority;

  EncodedCall(CallAcceptor acceptor) {
    this.acceptor = acceptor;
    this.authority = acceptor.peer().authority();
  }

  /**
   * Reads from a request's headers how its messages are compressed.
   *
   * @return why the call cannot be served, or null.
   */
  final Status learnEncoding(Metadata headers) {
    final String name = headers.get(Encoding.NAME);
    if (name == null) {
      return null;
    }
    final Decompressor decompressor = acceptor.codecs().decompressors().lookupDecompressor(name);
    if (decompressor == null) {
      return Status.UNIMPLEMENTED.withDescription("Can't find decompressor for " + name);
    }
    ownEncoding().decompressor(Encoding.orNone(decompressor));
    return null;
  }

  final boolean canDecompress() {
    return encoding != null && encoding.canDecompress();
  }

  private Encoding ownEncoding() {
    if (encoding == null) {
      encoding = new Encoding();
    }
    return encoding;
  }

  /** Sets the compression; ignored where the client cannot read it. */
  @Override
  public final void setCompression(String name) {
    checkState(!headersSent, "sendHeaders has been called");
    final Compressor compressor = acceptor.codecs().compressors().lookupCompressor(name);
    if (compressor == null) {
      throw new IllegalArgumentException("Unable to find compressor by name " + name);
    }
    final boolean accepted = acceptor.peer().accepts(compressor.getMessageEncoding());
    ownEncoding().compressor(accepted ? Encoding.orNone(compressor) : null);
  }

  @Override
  public final void setMessageCompression(boolean enabled) {
    if (encoding != null || !enabled) {
      ownEncoding().enabled(enabled);
    }
  }

  /** Writes into the response's headers how its messages may be compressed. */
  final void tellEncoding(Metadata headers) {
    if (!Sections.isEmpty(headers)) {
      headers.discardAll(Encoding.NAME); // the call sets it, not the handler
      Sections.discardReserved(headers);
    }
    final String name = encoding == null ? null : encoding.compressorName();
    if (name != null) {
      headers.put(Encoding.NAME, name);
    }
  }

  final void authority(String authority) {
    if (authority != null) {
      this.authority = authority;
    }
  }

  @Override
  public final String getAuthority() {
    return authority;
  }

  @Override
  public final Attributes getAttributes() {
    return acceptor.attributes();
  }

  @Override
  public final SecurityLevel getSecurityLevel() {
    return acceptor.peer().securityLevel();
  }

  static void checkState(boolean state, String message) {
    if (!state) {
      throw new IllegalStateException(message);
    }
  }
}
