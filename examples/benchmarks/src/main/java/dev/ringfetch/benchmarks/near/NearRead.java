package dev.ringfetch.benchmarks.near;

import dev.ringfetch.index.client.Access;
import java.util.List;

/** A read near memory, or in its place by many reads, that is measured. */
public enum NearRead {
  /** A chain by one call: the server follows it. */
  chainByCall(Access.RPC),
  /** A chain by one call of a kernel. */
  chainByKernel(Access.RPC),
  /** A chain by reads of memory, one after the other. */
  chainDirectly(Access.DIRECT),
  /** A chain by calls of Get, one after the other. */
  chainByGets(Access.RPC),
  /** The entries of a filter, which the server evaluates. */
  filterByCall(Access.RPC),
  /** The entries of a filter, which the client evaluates while it reads memory. */
  filterDirectly(Access.DIRECT),
  /** All entries by calls; the client drops the others. */
  allByCall(Access.RPC),
  /** All entries out of memory; the client drops the others. */
  allDirectly(Access.DIRECT);

  /** The reads of a chain, first the one to which the others are compared. */
  public static final List<NearRead> CHAIN =
      List.of(chainByCall, chainByKernel, chainDirectly, chainByGets);

  /** The reads of one entry in 100, first the one to which the others are compared. */
  public static final List<NearRead> FILTER =
      List.of(filterByCall, filterDirectly, allByCall, allDirectly);

  private final Access access;

  NearRead(Access access) {
    this.access = access;
  }

  /** The route of the view. */
  Access access() {
    return access;
  }
}
