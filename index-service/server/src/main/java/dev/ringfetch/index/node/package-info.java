/**
 * Internal: the part of a cluster node that deals with the coordinator: creation, placement, loss
 * and description of groups.
 */
package dev.ringfetch.index.node;
