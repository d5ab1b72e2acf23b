/** Tests of Kafka's interfaces on topics of an index. */
package dev.ringfetch.examples.kafka;
