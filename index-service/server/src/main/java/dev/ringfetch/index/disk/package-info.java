/**
 * Internal: the directory that durable data stands in, behind an interface that names what survives
 * a loss of power, so that tests can lose the rest.
 */
package dev.ringfetch.index.disk;
