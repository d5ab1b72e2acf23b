/** The users of a server: who a caller is, what a user may do, and the audit log. */
@org.jspecify.annotations.NullMarked
package dev.ringfetch.index.rights;
