/** The annotation of state and methods that one thread at a time uses, without a lock. */
package dev.ringfetch.session.owner;
