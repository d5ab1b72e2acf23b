package dev.ringfetch.benchmarks.replicated;

import dev.ringfetch.benchmarks.stores.NativeServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The sides of a benchmark of replicated stores. */
public enum ReplicatedSide {
  /** One node of Ringfetch, in memory: what replication costs is the difference from this. */
  one("one-node", 1, "memory"),
  /** Three nodes of Ringfetch, whose leader calls the members. */
  rpc("rpc", 3, "memory"),
  /** Three nodes of Ringfetch, whose leader writes into the members' memory. */
  oneSided("one-sided", 3, "memory"),
  /** Three nodes of Ringfetch, all of which have synced a put that is acknowledged. */
  disk("disk", 3, "disk"),
  /** Three members of etcd, of which most have synced a put that is acknowledged. */
  etcd("etcd", 3, "disk"),
  /** Three members of Hazelcast, with two backups of each entry. */
  hazelcast("hazelcast", 3, "memory");

  private static final String PROGRAM = "etcd";

  private final String text;
  private final int members;
  private final String level;

  ReplicatedSide(String text, int members, String level) {
    this.text = text;
    this.members = members;
    this.level = level;
  }

  /** For tables and scripts. */
  public String text() {
    return text;
  }

  /** Where members have an entry when its put is acknowledged. */
  public String level() {
    return level;
  }

  /** How many members there are. */
  public int members() {
    return members;
  }

  /** Members that lead no entry; none where each leads some. */
  public int followers() {
    return this == hazelcast ? 0 : members - 1;
  }

  /** Why the side cannot take part on this machine, or an empty text. */
  public String obstacle() {
    return this == etcd && NativeServer.find(PROGRAM).isEmpty() ? "etcd is not installed" : "";
  }

  /**
   * Starts the members.
   *
   * @param folder for files of this run; whatever writes to disk writes there
   * @param fabric that Ringfetch's nodes and clients have, by its name; empty: all
   */
  public ReplicatedStore start(Path folder, String fabric) throws IOException {
    return switch (this) {
      case one -> RingfetchNodes.start(members, RingfetchNodes.ANY, "", fabric, null);
      case rpc -> RingfetchNodes.start(members, "rpc", "rpc", fabric, null);
      case oneSided ->
          RingfetchNodes.start(
              members,
              "one-sided",
              "one-sided " + (fabric.isEmpty() ? "shm" : fabric),
              fabric,
              null);
      case disk ->
          RingfetchNodes.start(
              members,
              RingfetchNodes.ANY,
              "",
              fabric,
              Files.createDirectories(folder.resolve(text)));
      case etcd ->
          EtcdMembers.start(
              NativeServer.find(PROGRAM).orElseThrow(),
              Files.createDirectories(folder.resolve(text)),
              members);
      case hazelcast -> HazelcastMembers.start(members);
    };
  }
}
