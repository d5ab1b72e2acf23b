/**
 * Internal: messages of the handshake, encoded as protobuf encodes them. They need no protobuf
 * library, so that an application can have whichever version it likes. The contract is {@code
 * session.proto} of the module {@code proto/session}; a test compares each field with it.
 * docs/adr/0019 says why.
 */
package dev.ringfetch.protocol;
