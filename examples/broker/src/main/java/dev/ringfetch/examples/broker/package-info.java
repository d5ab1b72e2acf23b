/** The demo of the broker: producers and consumers of Kafka's interfaces on a cluster. */
package dev.ringfetch.examples.broker;
