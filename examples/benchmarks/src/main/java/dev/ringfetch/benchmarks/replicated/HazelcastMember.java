package dev.ringfetch.benchmarks.replicated;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.ringfetch.benchmarks.stores.HazelcastStore;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * The process of a Hazelcast member. Its map has two backups of each entry, which a put waits for;
 * all is in memory.
 */
final class HazelcastMember {
  private static final String HOST = "127.0.0.1";
  private static final int NOBODY = -1;

  private HazelcastMember() {}

  /**
   * Runs the process.
   *
   * @param arguments the ports of all members, its own first
   */
  public static void main(String[] arguments) throws IOException {
    final HazelcastInstance member =
        Hazelcast.newHazelcastInstance(
            config(Arrays.stream(arguments).map(Integer::valueOf).toList()));
    new CommandLoop()
        .on(
            "state",
            words ->
                new Answer()
                    .with("members", member.getCluster().getMembers().size())
                    .with("safe", member.getPartitionService().isClusterSafe()))
        .on(
            "owner",
            words -> new Answer().with("port", owner(member, Long.parseLong(words.get(0)))))
        .run();
    member.getLifecycleService().terminate();
    System.exit(0);
  }

  private static Config config(List<Integer> ports) {
    final Config config = new Config();
    config.setClusterName(HazelcastStore.NAME);
    config.setProperty("hazelcast.logging.type", "none");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    final NetworkConfig network = config.getNetworkConfig();
    network.setPort(ports.get(0)).setPortAutoIncrement(false);
    network.getInterfaces().setEnabled(true).addInterface(HOST);
    final JoinConfig join = network.getJoin();
    join.getAutoDetectionConfig().setEnabled(false);
    join.getMulticastConfig().setEnabled(false);
    join.getTcpIpConfig().setEnabled(true);
    ports.forEach(port -> join.getTcpIpConfig().addMember(HOST + ":" + port));
    config.getMapConfig(HazelcastStore.NAME).setBackupCount(ports.size() - 1);
    return config;
  }

  /** Port of the member that has the first copy of an entry. */
  private static int owner(HazelcastInstance member, long number) {
    final Member owner =
        member.getPartitionService().getPartition(StoreClient.key(number)).getOwner();
    return owner == null ? NOBODY : owner.getAddress().getPort();
  }
}
