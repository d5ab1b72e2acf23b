package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.coordinator.LocalCoordinator;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.GroupDescription;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Topics of a cluster whose leaders die while a program appends. */
@Timeout(180)
final class TopicClusterTest {
  private static final String TOPIC = "orders";
  private static final String INDEX = new TopicPartition(TOPIC, 0).index();

  private final LocalCoordinator.Truth truth = new LocalCoordinator.Truth();
  private final List<ClusterMember> members = new ArrayList<>();

  private void add() throws Exception {
    members.add(new ClusterMember(truth.connect(), ClusterMember.memory(null)));
  }

  @AfterEach
  void stop() {
    members.forEach(ClusterMember::close);
  }

  private static GroupDescription group(DescribeClusterResponse description) {
    return description.getGroupsList().stream()
        .filter(group -> group.getIndex().equals(INDEX))
        .findFirst()
        .orElseThrow();
  }

  /** Ends the leader of the partition, which has three members then. */
  private void endLeader() throws Exception {
    final long leader = group(members.get(0).describe()).getLeader();
    final ClusterMember ended =
        members.stream()
            .filter(member -> member.describe().getNode() == leader)
            .findFirst()
            .orElseThrow();
    ended.await(
        30,
        description ->
            group(description).getEstablished() && group(description).getMembersCount() == 3);
    members.remove(ended);
    ended.close();
  }

  private IndexClient connect() {
    final String targets = String.join(",", members.stream().map(ClusterMember::address).toList());
    return IndexClient.builder().target(targets).deadline(Duration.ofSeconds(30)).build();
  }

  /** Each record that was acknowledged is there once, in order, behind two fail-overs. */
  @Test
  void recordsOutliveTheirLeaders() throws Exception {
    for (int i = 0; i < 3; i++) {
      add();
    }
    members.get(0).await(30, description -> description.getNodesCount() == 3);
    try (IndexClient client = connect()) {
      assertTrue(client.topics().create(TOPIC, TopicOptions.partitions(2).replicas(3)));
      final TopicLog log = client.topics().log(TOPIC, 0);
      final TopicAppender appender = new TopicAppender(log);
      try (appender) {
        appender.await(200);
        endLeader();
        appender.await(200);
        add();
        endLeader();
        appender.await(200);
      }
      appender.check(TopicAppender.readAll(log), true);
      assertEquals(log.count(0), TopicAppender.readAll(log).size());
      assertEquals(2, client.topics().describe(TOPIC).orElseThrow().partitions());
      assertEquals(List.of(TOPIC), client.topics().list());
    }
  }
}
