package dev.ringfetch.benchmarks.replicated;

import dev.ringfetch.benchmarks.stores.EtcdEndpoints;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.benchmarks.stores.StoreKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Members of etcd: one leads all entries. Writes are synced to the disk. */
final class EtcdMembers implements ReplicatedStore {
  private final Path program;
  private final Path folder;
  private final Map<String, Integer> peerPorts = new TreeMap<>(); // by the members' names
  private final List<Integer> ports = new ArrayList<>(); // in the order of the names
  private final List<NativeServer> servers = new ArrayList<>();
  private final EtcdEndpoints endpoints;

  private EtcdMembers(Path program, Path folder, int count) throws IOException {
    this.program = program;
    this.folder = folder;
    for (int i = 0; i < count; i++) {
      peerPorts.put("member-" + i, NativeServer.freePort());
      ports.add(NativeServer.freePort());
    }
    endpoints = new EtcdEndpoints(target());
  }

  /**
   * Starts members.
   *
   * @param folder of their files, which is there
   */
  static EtcdMembers start(Path program, Path folder, int count) throws IOException {
    final EtcdMembers members = new EtcdMembers(program, folder, count);
    boolean started = false;
    try {
      for (int i = 0; i < count; i++) {
        members.servers.add(members.start(i));
      }
      Wait.until("etcd has no leader", () -> members.leader().isPresent());
      started = true;
      return members;
    } finally {
      if (!started) {
        members.close();
      }
    }
  }

  private NativeServer start(int member) throws IOException {
    final String name = "member-" + member;
    return NativeServer.etcd(
        program, Files.createDirectories(folder.resolve(name)), name, ports.get(member), peerPorts);
  }

  @Override
  public StoreKind kind() {
    return StoreKind.etcd;
  }

  @Override
  public String target() {
    return ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(","));
  }

  @Override
  public List<Long> processes() {
    return servers.stream().map(NativeServer::pid).toList();
  }

  private Optional<NativeServer> leader() {
    final List<Optional<EtcdEndpoints.State>> states = endpoints.states();
    for (int i = 0; i < states.size(); i++) {
      if (states.get(i).filter(EtcdEndpoints.State::leads).isPresent()) {
        return Optional.of(servers.get(i));
      }
    }
    return Optional.empty();
  }

  @Override
  public long leader(long number) throws IOException {
    return leader().orElseThrow(() -> new IOException("etcd has no leader")).pid();
  }

  @Override
  public void restart(long process) throws IOException {
    for (int i = 0; i < servers.size(); i++) {
      if (servers.get(i).pid() == process) {
        servers.get(i).close(); // the shell that has waited for it
        servers.set(i, start(i));
      }
    }
  }

  @Override
  public void awaitWhole() throws IOException {
    Wait.until("etcd is not whole", this::isWhole);
  }

  private boolean isWhole() {
    final List<Optional<EtcdEndpoints.State>> states = endpoints.states();
    return states.stream().allMatch(Optional::isPresent)
        && states.stream().anyMatch(state -> state.orElseThrow().leads())
        && states.stream().map(state -> state.orElseThrow().leader()).distinct().count() == 1
        && states.stream().map(state -> state.orElseThrow().applied()).distinct().count() == 1;
  }

  @Override
  public void close() {
    endpoints.close();
    servers.forEach(NativeServer::close);
  }
}
