package dev.ringfetch.rpc;

import io.grpc.SecurityLevel;
import java.util.Arrays;
import java.util.Set;

/**
 * Which fabrics may carry calls whose connection is encrypted. A ring is not: whoever reads its
 * memory, or the wire between its ends, reads the calls. Immutable.
 *
 * @param names of those fabrics.
 * @param side whose policy it is, for people.
 */
record PlaintextFabrics(Set<String> names, String side) {
  /** System property that sets the names where no builder does, separated by commas. */
  static final String PROPERTY = "ringfetch.plaintext.fabrics";

  static final String CLIENT = "client";
  static final String SERVER = "server";

  /** Within one user's processes on one host, who can read each other's memory anyway. */
  private static final String WITHIN_ONE_USER = "shm";

  /** A side's policy unless its builder says otherwise. */
  static PlaintextFabrics unlessSet(String side) {
    return of(side, System.getProperty(PROPERTY, WITHIN_ONE_USER).split("[,\\s]+"));
  }

  static PlaintextFabrics of(String side, String... names) {
    for (final String name : names) {
      if (!name.isEmpty() && !FabricSelection.isKnown(name)) {
        Misconfiguration.log(
            "no fabric is called \""
                + name
                + "\", which "
                + PROPERTY
                + " or a "
                + side
                + "'s builder allows to carry encrypted calls");
      }
    }
    return new PlaintextFabrics(Set.copyOf(Arrays.asList(names)), side);
  }

  /** Why calls of such a connection may not go over a fabric, or null. */
  String obstacle(String fabric, SecurityLevel connection) {
    return connection == SecurityLevel.NONE || names.contains(fabric)
        ? null
        : "plaintext, and the " + side + " keeps encrypted calls off it";
  }

  /**
   * How well calls on a fabric are protected. Where nobody but the user's own processes can reach
   * them, as well as the connection over which their session was opened, which says who the peer
   * is; elsewhere not at all, whatever was allowed.
   */
  static SecurityLevel level(String fabric, SecurityLevel connection) {
    return fabric.equals(WITHIN_ONE_USER) ? connection : SecurityLevel.NONE;
  }
}
