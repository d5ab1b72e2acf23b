package dev.ringfetch.index.rights;

import dev.ringfetch.index.files.ChangingFiles;
import dev.ringfetch.rpc.LeanCall;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * The rights of a server's callers, by the users in a file: which user a call is of, and what the
 * user may do. {@link #refresh} reads the file again when it has changed; from then on the new
 * rights count, and streams and grants of direct reads end whose user lacks the right for them.
 *
 * <p>Thread-safe.
 */
public final class Rights implements AutoCloseable {
  private static final Logger LOGGER = System.getLogger(Rights.class.getName());

  private static final int LOOK_SECONDS = 10;

  private final ChangingFiles file;
  private final @Nullable AuditLog audit; // null: none
  private final PasswordChecks passwords = new PasswordChecks();
  private final Set<Holding> holdings = ConcurrentHashMap.newKeySet();
  private volatile Users users;
  private volatile Predicate<SSLSession> nodes = session -> false;

  /**
   * Reads the file of the users.
   *
   * @throws IOException if the file cannot be read, other users can read it, or it is wrong; with
   *     file, line and reason in its message
   */
  public Rights(Path file) throws IOException {
    this(null, file);
  }

  /**
   * As above, with a log of calls, which is closed with this.
   *
   * @throws IOException as above
   */
  public Rights(Path file, AuditLog audit) throws IOException {
    this(audit, file);
  }

  private Rights(@Nullable AuditLog audit, Path file) throws IOException {
    this.audit = audit;
    this.file =
        new ChangingFiles(
            "users",
            List.of(file),
            Set.of(file),
            contents -> {
              users = Users.parse(file, contents.get(0));
              holdings.forEach(holding -> holding.check(users));
            });
  }

  /**
   * Checks a line of a users file.
   *
   * @throws IllegalArgumentException if it is wrong, with the reason
   */
  public static void checkLine(String line) {
    final User unused = Users.user(line);
  }

  /** Tells nodes of the cluster, which may ask each other what they know, from their clients. */
  public void nodes(Predicate<SSLSession> areNodes) {
    nodes = areNodes;
  }

  /** Reads the file again if it has changed. If it is wrong, logs so and keeps what it was. */
  public void refresh() {
    file.refresh();
    if (audit != null) {
      audit.refresh();
    }
  }

  /** The filter that a server needs for calls to cost little. */
  public ServerTransportFilter connections() {
    return new ConnectionUser.Filter();
  }

  /**
   * Returns a service that serves the calls of users with the right for them.
   *
   * @throws IllegalArgumentException if no rule says who may call one of its methods
   */
  public ServerServiceDefinition guard(ServerServiceDefinition service) {
    service.getMethods().forEach(method -> CallRules.of(method.getMethodDescriptor()));
    return ServerInterceptors.intercept(service, new GuardedCalls(this));
  }

  /**
   * Whether a call on a ring may read an index as far as is known at once. If not, an ordinary call
   * finds out.
   */
  @SuppressWarnings("ReferenceEquality") // another ring may have equal attributes
  public boolean letsRead(LeanCall call, String index) {
    if (call.mayHaveOwnHeaders() || (audit != null && audit.covers(Right.READ))) {
      return false;
    }
    final Users now = users;
    final Attributes ring = call.attributes();
    final ConnectionUser connection = ConnectionUser.of(ring);
    final ConnectionUser.Proved<Attributes> last = connection.onRing;
    if (last != null && last.users() == now && last.proof() == ring) {
      return last.user().may(Right.READ, index);
    }
    final User user = known(ring, call.headers().get(Credentials.AUTHORIZATION));
    if (user == null) {
      return false;
    }
    connection.onRing = new ConnectionUser.Proved<>(now, ring, user);
    return user.may(Right.READ, index);
  }

  /**
   * The user of a call; null if it proves none, or has a password that has to be checked first.
   *
   * @param authorization header of the call: it counts, if there is one, and not the certificate
   */
  @Nullable User known(Attributes caller, @Nullable String authorization) {
    final Users now = users;
    final ConnectionUser connection = ConnectionUser.of(caller);
    if (authorization == null) {
      return byCertificate(now, connection, caller.get(Grpc.TRANSPORT_ATTR_SSL_SESSION));
    }
    final byte[] header = authorization.getBytes(StandardCharsets.ISO_8859_1);
    final ConnectionUser.Proved<byte[]> last = connection.byHeader;
    if (last != null && last.users() == now && MessageDigest.isEqual(last.proof(), header)) {
      return last.user();
    }
    final Credentials shown = Credentials.of(authorization);
    final User user = shown == null ? null : now.find(shown.user());
    if (user == null
        || user.password() == null
        || !Credentials.areSecret(caller)
        || !passwords.isKnown(user, shown)) {
      return null;
    }
    connection.byHeader = new ConnectionUser.Proved<>(now, header, user);
    return user;
  }

  private static @Nullable User byCertificate(
      Users now, ConnectionUser connection, @Nullable SSLSession session) {
    final ConnectionUser.Proved<ConnectionUser> last = connection.byCertificate;
    if (last != null && last.users() == now) {
      return last.user();
    }
    for (final String name : Credentials.names(session)) {
      final User user = now.ofCertificate(name);
      if (user != null) {
        connection.byCertificate = new ConnectionUser.Proved<>(now, connection, user);
        return user;
      }
    }
    return null;
  }

  /**
   * Whether a request of HTTP is of a user who may read all indexes. Waits until a password is
   * checked, for {@value #LOOK_SECONDS} s at most.
   *
   * @param authorization header of the request; null if it has none
   */
  public boolean letsLook(String authorization) {
    final Credentials shown = authorization == null ? null : Credentials.of(authorization);
    if (shown == null) {
      return false;
    }
    final User user = users.find(shown.user());
    if (user == null || !passwords.isKnown(user, shown)) {
      final CountDownLatch checked = new CountDownLatch(1);
      try {
        if (!passwords.check(user, shown, "console", () -> false, checked::countDown)
            || !checked.await(LOOK_SECONDS, TimeUnit.SECONDS)) {
          return false;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return user != null && passwords.isKnown(user, shown) && user.mayAll(Right.READ);
  }

  /** The user of a name; null if there is none. */
  @Nullable User find(String name) {
    return users.find(name);
  }

  boolean isNode(Attributes caller) {
    final SSLSession session = caller.get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    return session != null && nodes.test(session);
  }

  PasswordChecks passwords() {
    return passwords;
  }

  @Nullable AuditLog audit() {
    return audit;
  }

  /** The refusal of a user without a right. */
  static Status refusal(User user, @Nullable Right right, String index) {
    return Status.PERMISSION_DENIED.withDescription(
        "user=" + user.name() + " right=" + right + " index=" + AuditLog.name(index));
  }

  /**
   * Notes what a user keeps open by a right, a stream or a grant.
   *
   * @param still whether the user, as the file has it now, has the right
   * @param end ends it; on the thread that has read the file, or on the caller's
   */
  Holding hold(User user, Predicate<User> still, Runnable end) {
    final Holding holding = new Holding(user, still, end);
    holdings.add(holding);
    holding.check(users); // which may have changed since the user was found
    return holding;
  }

  /** A stream or grant that a user keeps open by a right. */
  final class Holding implements AutoCloseable {
    private final User user;
    private final Predicate<User> still;
    private final Runnable end;

    private Holding(User user, Predicate<User> still, Runnable end) {
      this.user = user;
      this.still = still;
      this.end = end;
    }

    private void check(Users now) {
      final User found = now.find(user.name());
      final boolean holds = found != null && found.isProvedAs(user) && still.test(found);
      if (!holds && holdings.remove(this)) {
        try {
          end.run();
        } catch (RuntimeException e) { // of one stream; the others end, too
          LOGGER.log(Level.ERROR, "the end of a revoked right has failed: " + user.name(), e);
        }
      }
    }

    /** Called when the user has ended it. */
    @Override
    public void close() {
      holdings.remove(this);
    }
  }

  @Override
  public void close() {
    if (audit != null) {
      audit.close();
    }
  }
}
