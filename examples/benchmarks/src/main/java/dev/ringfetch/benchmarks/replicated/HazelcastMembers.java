package dev.ringfetch.benchmarks.replicated;

import dev.ringfetch.benchmarks.stores.HazelcastStore;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.benchmarks.stores.StoreKind;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Members of Hazelcast: each leads the entries of some partitions, and has the others, too. */
final class HazelcastMembers implements ReplicatedStore {
  private static final List<String> FLAGS = new ArrayList<>(HazelcastStore.FLAGS);

  static {
    FLAGS.add("-Xmx512m"); // as a node of Ringfetch
  }

  private final Map<Integer, ChildProcess> members = new LinkedHashMap<>(); // by port

  private HazelcastMembers() {}

  /** Starts members. */
  static HazelcastMembers start(int count) throws IOException {
    final HazelcastMembers started = new HazelcastMembers();
    final List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ports.add(NativeServer.freePort());
    }
    boolean complete = false;
    try {
      for (final int port : ports) {
        started.members.put(port, member(port, ports));
      }
      started.awaitWhole();
      complete = true;
      return started;
    } finally {
      if (!complete) {
        started.close();
      }
    }
  }

  private static ChildProcess member(int port, Iterable<Integer> all) throws IOException {
    final List<String> arguments = new ArrayList<>(List.of(Integer.toString(port)));
    all.forEach(
        each -> {
          if (each != port) {
            arguments.add(Integer.toString(each));
          }
        });
    return ChildProcess.start(FLAGS, HazelcastMember.class, arguments);
  }

  @Override
  public StoreKind kind() {
    return StoreKind.hazelcast;
  }

  @Override
  public String target() {
    return members.keySet().stream()
        .map(port -> "127.0.0.1:" + port)
        .collect(Collectors.joining(","));
  }

  @Override
  public List<Long> processes() {
    return members.values().stream().map(ChildProcess::pid).toList();
  }

  @Override
  public long leader(long number) throws IOException {
    final int port = (int) members.values().iterator().next().ask("owner", number).count("port");
    if (!members.containsKey(port)) {
      throw new IOException("no member of ours owns the entry: port=" + port);
    }
    return members.get(port).pid();
  }

  @Override
  public void expectEnd(long process) {
    members.values().stream()
        .filter(member -> member.pid() == process)
        .forEach(ChildProcess::expectEnd);
  }

  @Override
  public void restart(long process) throws IOException {
    for (final Map.Entry<Integer, ChildProcess> member : members.entrySet()) {
      if (member.getValue().pid() == process) {
        member.getValue().kill();
        member.setValue(member(member.getKey(), members.keySet()));
      }
    }
  }

  @Override
  public void awaitWhole() throws IOException {
    Wait.until("Hazelcast is not whole", () -> members.values().stream().allMatch(this::isWhole));
  }

  private boolean isWhole(ChildProcess member) {
    final Answer state = member.ask("state");
    return state.count("members") == members.size() && Boolean.parseBoolean(state.text("safe"));
  }

  @Override
  public void close() {
    members.values().forEach(ChildProcess::close);
  }
}
