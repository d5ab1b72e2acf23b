/** Tests of clusters on one machine. */
package dev.ringfetch.examples.cluster;
