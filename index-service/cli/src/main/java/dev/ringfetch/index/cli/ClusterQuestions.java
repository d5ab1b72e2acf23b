package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.NodeDescription;
import dev.ringfetch.index.v1.RecoverIndexRequest;
import dev.ringfetch.index.v1.RecoverIndexResponse;
import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The questions to the nodes of a cluster about the cluster: asks the given nodes and the nodes
 * that they name. Uses gRPC alone, so that it sees nodes as other hosts do. Used by one thread.
 */
public final class ClusterQuestions implements AutoCloseable {
  private static final long END_SECONDS = 2;

  private final Set<String> seeds;
  private final Duration timeout;
  private final ChannelCredentials credentials;
  private final Map<String, ManagedChannel> channels = new HashMap<>();

  /**
   * Creates it; connects to nothing yet.
   *
   * @param addresses of some nodes, each {@code host:port}
   * @param timeout how long a node may take to answer
   */
  public ClusterQuestions(Collection<String> addresses, Duration timeout) {
    this(addresses, timeout, null);
  }

  /** The same over TLS; with null, over plaintext. */
  ClusterQuestions(Collection<String> addresses, Duration timeout, ChannelCredentials credentials) {
    seeds = new TreeSet<>(addresses);
    this.timeout = timeout;
    this.credentials = credentials == null ? InsecureChannelCredentials.create() : credentials;
  }

  /** The questions to the server of a command. */
  static ClusterQuestions of(ServerOptions server) {
    return new ClusterQuestions(server.addresses(), server.timeout(), server.credentials());
  }

  /**
   * Asks all nodes, also those that answers name, and waits for the answers.
   *
   * @throws StatusRuntimeException with UNAVAILABLE if no node answers, with FAILED_PRECONDITION if
   *     a server belongs to no cluster
   */
  public ClusterView ask() {
    return ClusterView.of(answers());
  }

  /** The answers of all nodes, by their addresses; otherwise like {@link #ask}. */
  Map<String, Optional<DescribeClusterResponse>> answers() {
    final Map<String, Optional<DescribeClusterResponse>> answers = new LinkedHashMap<>();
    final Set<Long> answered = new HashSet<>();
    StatusRuntimeException failure = ask(seeds, answers);
    answers.values().forEach(each -> each.ifPresent(said -> answered.add(said.getNode())));
    final Set<String> named = new TreeSet<>();
    for (final Optional<DescribeClusterResponse> answer : answers.values()) {
      answer.ifPresent(
          said ->
              said.getNodesList().stream()
                  .filter(node -> !answered.contains(node.getNode()))
                  .map(NodeDescription::getAddress)
                  .forEach(named::add));
    }
    named.removeAll(answers.keySet());
    ask(named, answers);
    if (answers.values().stream().noneMatch(Optional::isPresent)) {
      throw failure == null ? Status.UNAVAILABLE.asRuntimeException() : failure;
    }
    return answers;
  }

  /**
   * Asks a node to recover an index without its lost records, or to report on it.
   *
   * @param address of a node that answers
   */
  RecoverIndexResponse recover(String address, RecoverIndexRequest request) {
    return IndexAdminGrpc.newBlockingStub(channels.computeIfAbsent(address, this::connect))
        .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
        .recoverIndex(request);
  }

  /** Asks nodes; returns the last failure, or null. */
  private StatusRuntimeException ask(
      Set<String> addresses, Map<String, Optional<DescribeClusterResponse>> answers) {
    final Map<String, Future<DescribeClusterResponse>> asked = new LinkedHashMap<>();
    for (final String address : addresses) {
      asked.put(
          address,
          IndexAdminGrpc.newFutureStub(channels.computeIfAbsent(address, this::connect))
              .withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS)
              .describeCluster(DescribeClusterRequest.getDefaultInstance()));
    }
    StatusRuntimeException failure = null;
    for (final Map.Entry<String, Future<DescribeClusterResponse>> each : asked.entrySet()) {
      try {
        answers.put(each.getKey(), Optional.of(checked(each.getKey(), each.getValue().get())));
      } catch (ExecutionException e) {
        failure = Status.fromThrowable(e.getCause()).asRuntimeException();
        answers.put(each.getKey(), Optional.empty());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw Status.CANCELLED.withDescription("the thread was interrupted").asRuntimeException();
      }
    }
    return failure;
  }

  private static DescribeClusterResponse checked(String address, DescribeClusterResponse answer) {
    if (answer.getNode() == 0) {
      throw Status.FAILED_PRECONDITION
          .withDescription("the server belongs to no cluster: server=" + address)
          .asRuntimeException();
    }
    return answer;
  }

  private ManagedChannel connect(String address) {
    return Grpc.newChannelBuilder(address, credentials).build();
  }

  /** Closes the connections. */
  @Override
  public void close() {
    channels.values().forEach(ManagedChannel::shutdownNow);
    try {
      for (final ManagedChannel channel : channels.values()) {
        channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
