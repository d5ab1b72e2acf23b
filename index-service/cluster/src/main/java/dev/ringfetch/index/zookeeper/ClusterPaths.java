package dev.ringfetch.index.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The paths of a cluster's znodes.
 *
 * <pre>
 * /ringfetch/CLUSTER/groups        id of the cluster; each creation of a group writes it again
 * /ringfetch/CLUSTER/groups/1f     GroupState without version; in `won` the epoch is 0
 * /ringfetch/CLUSTER/dropped       DroppedGroups; empty: none
 * /ringfetch/CLUSTER/names/NAME    id of the group that is the index of that name
 * /ringfetch/CLUSTER/nodes/2a      ephemeral: Node
 * /ringfetch/CLUSTER/adopted/2a    nonce of the adoption of that node's directory; 0: given up
 * </pre>
 *
 * <p>Ids are random, and written in hexadecimal.
 *
 * <p>In NAME, bytes of the index's name in UTF-8 other than letters, digits, {@code -} and {@code
 * _} are written as {@code %} and two hexadecimal digits.
 */
final class ClusterPaths {
  private static final String ROOT = "/ringfetch";
  private static final String PLAIN =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  private final String cluster;
  private final String groups;
  private final String dropped;
  private final String names;
  private final String nodes;
  private final String adopted;

  /**
   * @param cluster name of the cluster
   * @throws IllegalArgumentException if it is empty
   */
  ClusterPaths(String cluster) {
    if (cluster.isEmpty()) {
      throw new IllegalArgumentException("cluster is empty: it needs a name");
    }
    this.cluster = ROOT + '/' + escaped(cluster);
    groups = this.cluster + "/groups";
    dropped = this.cluster + "/dropped";
    names = this.cluster + "/names";
    nodes = this.cluster + "/nodes";
    adopted = this.cluster + "/adopted";
  }

  /** The paths that every cluster has, parents first. */
  List<String> permanent() {
    return List.of(ROOT, cluster, groups, dropped, names, nodes, adopted);
  }

  /** The root of the cluster's paths. */
  String cluster() {
    return cluster;
  }

  String groups() {
    return groups;
  }

  String group(long id) {
    return groups + '/' + Long.toHexString(id);
  }

  /** The path of the list of groups that were dropped last. */
  String dropped() {
    return dropped;
  }

  String name(String index) {
    return names + '/' + escaped(index);
  }

  String nodes() {
    return nodes;
  }

  String node(long id) {
    return nodes + '/' + Long.toHexString(id);
  }

  /** The path of the adoptions of directories. */
  String adopted() {
    return adopted;
  }

  String adopted(long node) {
    return adopted + '/' + Long.toHexString(node);
  }

  /** Id of the group whose znode is at the path; 0 if the path is not a group's. */
  long groupAt(String path) {
    return idBelow(groups, path);
  }

  /** Id of the node whose znode is at the path; 0 if the path is not a node's. */
  long nodeAt(String path) {
    return idBelow(nodes, path);
  }

  private static long idBelow(String parent, String path) {
    if (!path.startsWith(parent + '/')) {
      return 0;
    }
    final String name = path.substring(parent.length() + 1);
    final long id = parse(name);
    return Long.toHexString(id).equals(name) ? id : 0;
  }

  /** The id that is the content of a znode; 0 if it is none. */
  static long id(byte[] content) {
    return parse(new String(content, StandardCharsets.US_ASCII));
  }

  private static long parse(String id) {
    try {
      return Long.parseUnsignedLong(id, 16);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** The content of a znode that is an id. */
  static byte[] content(long id) {
    return Long.toHexString(id).getBytes(StandardCharsets.US_ASCII);
  }

  private static String escaped(String name) {
    final StringBuilder escaped = new StringBuilder(name.length());
    for (final byte b : name.getBytes(StandardCharsets.UTF_8)) {
      if (PLAIN.indexOf(b) >= 0) {
        escaped.append((char) b);
      } else {
        escaped.append('%').append(String.format("%02X", b));
      }
    }
    return escaped.toString();
  }
}
