/**
 * Internal: the grants of direct reads: those of each connection, and the gates of groups at which
 * readers look.
 */
package dev.ringfetch.index.grant;
