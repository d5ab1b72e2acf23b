/**
 * Handshakes: how both sides agree on a fabric and a geometry, and open a session. The package
 * above the sessions.
 */
package dev.ringfetch.session.handshake;
