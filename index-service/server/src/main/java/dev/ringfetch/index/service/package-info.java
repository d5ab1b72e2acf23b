/**
 * Internal: the services of the index server (calls, administration, direct access), and what they
 * serve from: the indexes by name, their memory and gate, the data directory.
 */
package dev.ringfetch.index.service;
