package dev.ringfetch.rpc;

import dev.ringfetch.fabric.FabricProviders;
import io.grpc.SecurityLevel;
import java.util.Arrays;
import java.util.Set;

/**
 * Policy of a side: the fabrics that may carry calls although the connection is encrypted. A ring
 * is not encrypted: a process that can read its memory, or the wire between its ends, can read the
 * calls. Immutable.
 *
 * @param names of those fabrics.
 * @param side name of the side with this policy, for messages.
 */
record PlaintextFabrics(Set<String> names, String side) {
  /** System property that sets the names where no builder does, separated by commas. */
  static final String PROPERTY = "ringfetch.plaintext.fabrics";

  static final String CLIENT = "client";
  static final String SERVER = "server";

  /** Connects processes of one user on one host, which can read each other's memory anyway. */
  private static final String WITHIN_ONE_USER = FabricProviders.SHM;

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

  /** Returns why calls of such a connection may not go over a fabric, or null. */
  String obstacle(String fabric, SecurityLevel connection) {
    return connection == SecurityLevel.NONE || names.contains(fabric)
        ? null
        : "plaintext, and the " + side + " keeps encrypted calls off it";
  }

  /**
   * The security level of calls on a fabric. Where only processes of the same user can reach them,
   * it is the level of the connection over which the session was opened, since that identifies the
   * peer. Elsewhere it is none, whatever was allowed.
   */
  static SecurityLevel level(String fabric, SecurityLevel connection) {
    return fabric.equals(WITHIN_ONE_USER) ? connection : SecurityLevel.NONE;
  }
}
