package dev.ringfetch.rpc;

import io.grpc.Attributes;
import io.grpc.ServerTransportFilter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server's transport filters, combined into one; several where some were added between two
 * servers of one builder. Calls on a ring carry the attributes of the connection that opened it, so
 * for the filters a connection terminates only after its rings have.
 */
final class TransportFilters extends ServerTransportFilter {
  private static final Attributes.Key<Tenancy> TENANCY =
      Attributes.Key.create("ringfetch-connection-tenancy");

  private final List<ServerTransportFilter> filters;

  TransportFilters(List<ServerTransportFilter> filters) {
    this.filters = List.copyOf(filters);
  }

  /** Returns the users of the connection with these attributes; null where there are no filters. */
  static Tenancy tenancy(Attributes attributes) {
    return attributes.get(TENANCY);
  }

  @Override
  public Attributes transportReady(Attributes attributes) {
    final Tenancy before = tenancy(attributes);
    Attributes made = attributes;
    for (final ServerTransportFilter filter : filters) {
      made = Objects.requireNonNull(filter.transportReady(made), filter::toString);
    }
    final Tenancy tenancy = before == null ? new Tenancy() : before;
    tenancy.add(this);
    return made.toBuilder().set(TENANCY, tenancy).build();
  }

  @Override
  public void transportTerminated(Attributes attributes) {
    if (attributes == null) { // it was never ready
      filters.forEach(filter -> filter.transportTerminated(null));
    } else if (tenancy(attributes).leave()) {
      tenancy(attributes).terminate(attributes);
    }
  }

  /**
   * The count of the users of a connection: itself and the sessions that were opened over it.
   * Thread-safe, once the connection is ready.
   */
  static final class Tenancy {
    // The connection itself, once for each of these.
    private final List<TransportFilters> told = new ArrayList<>(1);
    private final AtomicInteger tenants = new AtomicInteger();

    private void add(TransportFilters filters) {
      told.add(filters);
      tenants.incrementAndGet();
    }

    /** Adds a session. False when all have left: the filters have been told the end. */
    boolean enter() {
      return tenants.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    /** Removes a user. True for the last one: the caller then calls {@link #terminate}. */
    boolean leave() {
      return tenants.decrementAndGet() == 0;
    }

    /** Tells the filters. */
    void terminate(Attributes attributes) {
      for (final TransportFilters filters : told) {
        filters.filters.forEach(filter -> filter.transportTerminated(attributes));
      }
    }
  }
}
