/**
 * Carriers: how frames get from one side of a session to the other over one kind of fabric.
 * Contains the common base of carriers, and the carrier between sides that load and store one
 * memory. Knows a session as a {@link dev.ringfetch.session.carrier.CarrierSession}.
 */
package dev.ringfetch.session.carrier;
