package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.Compressor;
import io.grpc.Decompressor;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import io.grpc.Status;

/**
 * The half of a server call that client and server agree on before there are messages: how those
 * are compressed, and to whom the call is addressed. A superclass and no object of its own, so that
 * a call allocates nothing for it.
 */
abstract class EncodedCall<ReqT, RespT> extends ServerCall<ReqT, RespT> {
  final CallAcceptor acceptor;

  /** Null while messages come and go as they are. */
  Encoding encoding;

  /** The handler's. */
  boolean headersSent;

  private String authority;

  EncodedCall(CallAcceptor acceptor) {
    this.acceptor = acceptor;
    this.authority = acceptor.peer().authority();
  }

  /**
   * Learns from a request's headers how its messages are compressed.
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

  /** What the client cannot read is not used: then messages go as they are. */
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

  /** Says in the response's headers how its messages may be compressed. */
  final void tellEncoding(Metadata headers) {
    if (!Sections.isEmpty(headers)) {
      headers.discardAll(Encoding.NAME); // whatever the handler says: it is this call's to say
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
