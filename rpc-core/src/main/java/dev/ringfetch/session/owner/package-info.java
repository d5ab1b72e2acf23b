/** Marks of state that one thread owns, and access to fields that several threads change. */
package dev.ringfetch.session.owner;
