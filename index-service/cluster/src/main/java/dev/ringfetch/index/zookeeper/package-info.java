/**
 * The coordinator of a cluster on ZooKeeper, and a ZooKeeper server in a process of its own for
 * clusters on one machine.
 */
package dev.ringfetch.index.zookeeper;
