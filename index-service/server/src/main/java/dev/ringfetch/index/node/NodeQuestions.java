package dev.ringfetch.index.node;

import dev.ringfetch.index.v1.DescribeClusterRequest;
import dev.ringfetch.index.v1.DescribeClusterResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.Node;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/** Questions to nodes what they know of the cluster, over connections that end with the answers. */
public final class NodeQuestions {
  private static final long LIMIT_SECONDS = 3;

  private final Function<Node, ManagedChannel> channels;

  /** Creates it; connects to nothing yet. */
  public NodeQuestions(Function<Node, ManagedChannel> channels) {
    this.channels = channels;
  }

  /**
   * Asks nodes at once.
   *
   * @param told gets the answers of those that have answered in time, by their ids; once, on any
   *     thread
   */
  void ask(Collection<Node> nodes, Consumer<Map<Long, DescribeClusterResponse>> told) {
    final Map<Long, DescribeClusterResponse> answers = new ConcurrentHashMap<>();
    final AtomicInteger left = new AtomicInteger(nodes.size() + 1);
    final Runnable end =
        () -> {
          if (left.decrementAndGet() == 0) {
            told.accept(answers);
          }
        };
    for (final Node node : nodes) {
      final ManagedChannel channel = channels.apply(node);
      IndexAdminGrpc.newStub(channel)
          .withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS)
          .describeCluster(
              DescribeClusterRequest.getDefaultInstance(),
              new StreamObserver<>() {
                @Override
                public void onNext(DescribeClusterResponse answer) {
                  if (answer.getNode() == node.getId()) {
                    answers.put(node.getId(), answer);
                  }
                }

                @Override
                public void onError(Throwable failure) { // a node without an answer
                  onCompleted();
                }

                @Override
                public void onCompleted() {
                  channel.shutdown();
                  end.run();
                }
              });
    }
    end.run();
  }
}
