package dev.ringfetch.index.grant;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DomainAdmission;
import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The grants of one connection, which end with it. Safe for use by many threads. */
public final class ConnectionGrants {
  private static final Attributes.Key<ConnectionGrants> KEY =
      Attributes.Key.create("ringfetch-connection-grants");

  /** Grants of memory of one connection at a time: no client takes those of all. */
  public static final int LIMIT = 64;

  /** Grants of gates: one for each reader of an index of which this node is a member. */
  public static final int GATE_LIMIT = 256;

  @GuardedBy("this")
  private final Map<ByteString, DomainAdmission> admissions = new HashMap<>();

  @GuardedBy("this")
  private final Map<ByteString, DomainAdmission> gates = new HashMap<>();

  @GuardedBy("this")
  private boolean ended;

  private ConnectionGrants() {}

  /** The grants of the connection with these attributes, or null without the {@link Filter}. */
  public static @Nullable ConnectionGrants of(Attributes attributes) {
    return attributes.get(KEY);
  }

  /**
   * Adds a grant. False if the connection has ended, or has {@link #LIMIT} grants or one with this
   * token: the caller closes the admission.
   */
  public synchronized boolean add(ByteString token, DomainAdmission admission) {
    return !ended && admissions.size() < LIMIT && admissions.putIfAbsent(token, admission) == null;
  }

  /** Adds a grant of gates, as {@link #add}, up to {@link #GATE_LIMIT}. */
  public synchronized boolean addGates(ByteString token, DomainAdmission admission) {
    return !ended && gates.size() < GATE_LIMIT && gates.putIfAbsent(token, admission) == null;
  }

  /** Ends a grant; returns whether there was one with this token. */
  public boolean release(ByteString token) {
    final DomainAdmission admission;
    synchronized (this) {
      final DomainAdmission memory = admissions.remove(token);
      admission = memory == null ? gates.remove(token) : memory;
    }
    if (admission != null) {
      admission.close();
    }
    return admission != null;
  }

  private synchronized void end() {
    ended = true;
    admissions.values().forEach(DomainAdmission::close);
    admissions.clear();
    gates.values().forEach(DomainAdmission::close);
    gates.clear();
  }

  /** Gives each connection its grants, and ends them when it terminates. */
  public static final class Filter extends ServerTransportFilter {
    @Override
    public Attributes transportReady(Attributes attributes) {
      return attributes.toBuilder().set(KEY, new ConnectionGrants()).build();
    }

    @Override
    public void transportTerminated(Attributes attributes) {
      final ConnectionGrants grants = attributes == null ? null : of(attributes);
      if (grants != null) { // it was ready
        grants.end();
      }
    }
  }
}
