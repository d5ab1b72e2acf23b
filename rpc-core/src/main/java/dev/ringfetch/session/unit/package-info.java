/**
 * Units: the bytes of a request, a response or a message in private memory, and how they are put
 * together from frames and from the peer's registered memory. Knows no session.
 */
package dev.ringfetch.session.unit;
