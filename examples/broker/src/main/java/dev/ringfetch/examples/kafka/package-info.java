/** Kafka's interfaces of producers and consumers, on topics of an index. */
package dev.ringfetch.examples.kafka;
