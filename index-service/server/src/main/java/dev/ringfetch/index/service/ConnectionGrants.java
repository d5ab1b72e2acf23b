package dev.ringfetch.index.service;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Admission;
import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import java.util.HashMap;
import java.util.Map;

/** The grants of one connection, which end with it. Safe for use by many threads. */
final class ConnectionGrants {
  private static final Attributes.Key<ConnectionGrants> KEY =
      Attributes.Key.create("ringfetch-connection-grants");

  /** Grants of one connection at a time: no client takes those of all. */
  static final int LIMIT = 64;

  private final Map<ByteString, Admission> admissions = new HashMap<>();
  private boolean ended;

  private ConnectionGrants() {}

  /** The grants of the connection with these attributes, or null without the {@link Filter}. */
  static ConnectionGrants of(Attributes attributes) {
    return attributes.get(KEY);
  }

  /**
   * Adds a grant. False if the connection has ended, or has {@link #LIMIT} grants or one with this
   * token: the caller closes the admission.
   */
  synchronized boolean add(ByteString token, Admission admission) {
    return !ended && admissions.size() < LIMIT && admissions.putIfAbsent(token, admission) == null;
  }

  /** Ends a grant; returns whether there was one with this token. */
  boolean release(ByteString token) {
    final Admission admission;
    synchronized (this) {
      admission = admissions.remove(token);
    }
    if (admission != null) {
      admission.close();
    }
    return admission != null;
  }

  private synchronized void end() {
    ended = true;
    admissions.values().forEach(Admission::close);
    admissions.clear();
  }

  /** Gives each connection its grants, and ends them when it terminates. */
  static final class Filter extends ServerTransportFilter {
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
