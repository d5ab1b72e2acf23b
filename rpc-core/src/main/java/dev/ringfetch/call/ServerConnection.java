package dev.ringfetch.call;

import io.grpc.Attributes;
import io.grpc.SecurityLevel;

/**
 * What a server's calls on a session tell of the connection that opened it, and so of the client.
 *
 * @param attributes of the connection, its peer's identity among them.
 * @param authority to which it was made, or null.
 * @param securityLevel how well the calls are protected.
 */
public record ServerConnection(
    Attributes attributes, String authority, SecurityLevel securityLevel) {}
