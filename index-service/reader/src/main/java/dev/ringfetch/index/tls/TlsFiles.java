package dev.ringfetch.index.tls;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.files.ChangingFiles;
import io.grpc.ChannelCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.TlsServerCredentials.ClientAuth;
import io.grpc.util.AdvancedTlsX509KeyManager;
import io.grpc.util.AdvancedTlsX509TrustManager;
import io.grpc.util.CertificateUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * TLS credentials in PEM files: a certificate with its chain, its private key, and the authorities
 * that sign the certificates of peers. {@link #refresh} reads them again when they have changed:
 * new connections then have the new certificate, and old ones go on.
 *
 * <p>Safe for use by many threads.
 */
public final class TlsFiles {
  /** Content whose signature shows that a key belongs to a certificate. */
  private static final byte[] SIGNED = {1, 2, 3, 4, 5, 6, 7, 8};

  private final Path certificate; // null: this side shows none
  private final Path key; // null with the certificate
  private final Path authorities; // null: those of the JVM for servers, and clients show nothing
  private final AdvancedTlsX509KeyManager keys = new AdvancedTlsX509KeyManager();
  private final AdvancedTlsX509TrustManager trust = trustManager();
  private final ChangingFiles files;

  /**
   * Reads the files.
   *
   * @param certificate of this side, with the chain to its authority; null for none
   * @param key of the certificate, in PKCS #8 without a password; null for none
   * @param authorities whose certificates peers have to show; null for those of the JVM
   * @throws IOException if a file cannot be read or used, the key does not belong to the
   *     certificate, or other users can read it
   * @throws IllegalArgumentException if one of certificate and key is null
   */
  public TlsFiles(Path certificate, Path key, Path authorities) throws IOException {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          "a certificate needs its key: certificate=" + certificate + " key=" + key);
    }
    this.certificate = certificate;
    this.key = key;
    this.authorities = authorities;
    files =
        new ChangingFiles("TLS files", names(), key == null ? Set.of() : Set.of(key), this::use);
  }

  private static AdvancedTlsX509TrustManager trustManager() {
    try {
      return AdvancedTlsX509TrustManager.newBuilder().build();
    } catch (CertificateException e) {
      throw new AssertionError("there is no certificate yet", e);
    }
  }

  /**
   * The credentials of a server. With authorities, each client has to show a certificate of theirs.
   *
   * @throws IllegalStateException if there is no certificate
   */
  public ServerCredentials server() {
    return server(ClientAuth.REQUIRE);
  }

  /**
   * As {@link #server()}, where clients may show no certificate, since they have to prove in
   * another way who they are. One of another authority is refused.
   */
  public ServerCredentials serverOfUsers() {
    return server(ClientAuth.OPTIONAL);
  }

  private ServerCredentials server(ClientAuth ofClients) {
    if (certificate == null) {
      throw new IllegalStateException("a server needs a certificate: authorities=" + authorities);
    }
    final TlsServerCredentials.Builder credentials =
        TlsServerCredentials.newBuilder().keyManager(keys);
    if (authorities != null) {
      credentials.trustManager(trust).clientAuth(ofClients);
    }
    return credentials.build();
  }

  /** The credentials of a channel, which verify the server's certificate and its host name. */
  public ChannelCredentials channel() {
    final TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    if (certificate != null) {
      credentials.keyManager(keys);
    }
    if (authorities != null) {
      credentials.trustManager(trust);
    }
    return credentials.build();
  }

  /**
   * Reads the files again if their contents have changed. If they cannot be used, for example
   * because only one of them is written yet, logs so once and keeps the former credentials.
   */
  public void refresh() {
    files.refresh();
  }

  private List<Path> names() {
    final List<Path> names = new ArrayList<>();
    if (certificate != null) {
      names.add(certificate);
      names.add(key);
    }
    if (authorities != null) {
      names.add(authorities);
    }
    return names;
  }

  private void use(List<ByteString> read) throws IOException {
    PrivateKey secret = null;
    X509Certificate[] chain = null;
    if (certificate != null) {
      chain = certificates(certificate, read.get(0));
      secret = secret(read.get(1));
      checkPair(chain[0].getPublicKey(), secret);
    }
    // The last step: either all of the new files are used or none.
    if (authorities != null) {
      final X509Certificate[] trusted = certificates(authorities, read.get(read.size() - 1));
      try {
        trust.updateTrustCredentials(trusted);
      } catch (GeneralSecurityException e) {
        throw unusable(authorities, "certificates", e);
      }
    }
    if (chain != null) {
      keys.updateIdentityCredentials(chain, secret);
    }
  }

  private static X509Certificate[] certificates(Path file, ByteString content) throws IOException {
    try {
      final X509Certificate[] found = CertificateUtils.getX509Certificates(content.newInput());
      if (found.length == 0) {
        throw unusable(file, "certificates", null);
      }
      return found;
    } catch (GeneralSecurityException e) {
      throw unusable(file, "certificates", e);
    }
  }

  private PrivateKey secret(ByteString content) throws IOException {
    try {
      return CertificateUtils.getPrivateKey(content.newInput());
    } catch (GeneralSecurityException | IllegalArgumentException e) { // of base64
      throw unusable(key, "an RSA or EC key (PKCS #8, without a password)", null); // e may quote it
    }
  }

  private void checkPair(PublicKey shown, PrivateKey secret) throws IOException {
    try {
      final Signature signature =
          Signature.getInstance(
              secret.getAlgorithm().equals("EC") ? "SHA256withECDSA" : "SHA256withRSA");
      signature.initSign(secret);
      signature.update(SIGNED);
      final byte[] signed = signature.sign();
      signature.initVerify(shown);
      signature.update(SIGNED);
      if (signature.verify(signed)) {
        return;
      }
    } catch (GeneralSecurityException e) {
      // A key of another kind.
    }
    throw new IOException("the key does not belong to the certificate: " + key + " " + certificate);
  }

  private static IOException unusable(Path file, String content, Exception cause) {
    return new IOException(
        "no PEM file of "
            + content
            + ": "
            + file
            + (cause == null ? "" : " (" + cause.getMessage() + ")"));
  }
}
