/**
 * The connections between the nodes of a cluster: streams of gRPC, over rings where these connect
 * two nodes.
 */
package dev.ringfetch.index.peers;
