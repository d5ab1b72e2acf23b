/**
 * Carriers: how frames get from one side of a session to the other over one kind of fabric. Holds
 * what every carrier has, and the one between sides that load and store one memory. Knows a session
 * as a {@link dev.ringfetch.session.carrier.CarrierSession}.
 */
package dev.ringfetch.session.carrier;
